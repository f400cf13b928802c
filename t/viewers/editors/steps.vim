" SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
" Does what the file $STEPS says, in vim or Neovim; writes what was seen to $SEEN.
set nocompatible noswapfile nofixendofline
let &runtimepath = $PLUGINS . '/vim,' . &runtimepath
runtime plugin/nytp.vim
let g:nytp_command = $NYTP_EXPORT

" A mark's text as the screen shows it: vim tells where properties are, not their text.
function! s:Shown(line) abort
  return matchstr(join(map(range(1, &columns), {_, column -> screenstring(a:line, column)}), ''), '[0-9.]\+%, .*stmts')
endfunction

function! s:Marks() abort
  if has('nvim')
    return map(nvim_buf_get_extmarks(0, nvim_create_namespace('nytp'), 0, -1, {'details': 1}), {_, mark -> [mark[1] + 1, mark[3].virt_text[0][0]]})
  endif
  redraw!
  return map(filter(range(1, line('$')), '!empty(prop_list(v:val))'), {_, line -> [line, s:Shown(line)]})
endfunction

function! s:Read(file) abort
  execute 'cgetfile ' . fnameescape(a:file)
  return map(filter(getqflist(), 'v:val.valid'), {_, row -> [bufname(row.bufnr), row.lnum]})
endfunction

let s:do = {
  \ 'open': {file -> execute('edit ' . fnameescape(file), '')},
  \ 'load': {profile -> execute('Nytp ' . profile, '')},
  \ 'clear': {_ -> execute('NytpClear', '')},
  \ 'insert': {text -> append(0, text)},
  \ 'delete': {line -> execute(line . 'delete', '')},
  \ 'save': {_ -> execute('write!', '')},
  \ 'reload': {_ -> execute('edit!', '')},
  \ 'marks': {_ -> s:Marks()},
  \ 'live': {_ -> s:Marks()},
  \ 'read': {file -> s:Read(file)}}
let s:seen = []
for [s:name, s:argument] in json_decode(join(readfile($STEPS)))
  let s:value = s:do[s:name](s:argument)
  if index(['marks', 'live', 'read'], s:name) >= 0
    call add(s:seen, s:value)
  endif
endfor
let s:said = filter(split(execute('messages'), "\n"), {_, text -> text =~# '^nytp: '})
call writefile([json_encode({'seen': s:seen, 'said': s:said})], $SEEN)
qall!
