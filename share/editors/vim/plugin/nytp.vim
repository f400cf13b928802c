" SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"
" Lines of a profile in vim (9.0.0067 or later) or Neovim (0.6 or later):
"
"   :Nytp [ARGUMENT ...]   run nytp-export --quickfix=0 with these, fill the quickfix list, mark lines
"   :NytpClear             remove the marks
"
" Lines that take less than g:nytp_least percent (0.1) have no mark. g:nytp_command is the command
" ("nytp-export"). Marks move with their lines; after reading and writing a file each is looked for
" by its line's text.

if exists('g:loaded_nytp')
  finish
endif
let g:loaded_nytp = 1

let s:marks = {}   " full path -> list of {line, text, label}, by line
let s:row = '^\(.\{-1,}\):\(\d\+\):\d\+: \(\([0-9.]\+\)%, [^:]*\)\%(: \(.*\)\)\?$'
highlight default link NytpMark Comment
if has('nvim')
  let s:space = nvim_create_namespace('nytp')
elseif has('patch-9.0.0067')
  call prop_type_add('nytp', {'highlight': 'NytpMark'})
endif

function! s:Words(text) abort
  return substitute(trim(a:text), '\s\+', ' ', 'g')
endfunction

function! s:Warn(text) abort
  echohl WarningMsg | echomsg 'nytp: ' . a:text | echohl None
endfunction

" Returns the line that each mark belongs to now, 0 where there is none: the line with its text,
" if this is the only one, else the one nearest to where the marks above say, within 50 lines.
function! s:Find(marks, lines) abort
  let l:at = {}
  for l:n in range(len(a:lines))
    let l:text = s:Words(a:lines[l:n])
    let l:at[l:text] = add(get(l:at, l:text, []), l:n + 1)
  endfor
  let [l:found, l:taken, l:shift] = [[], {}, 0]
  for l:mark in a:marks
    let l:due = l:mark.line + l:shift
    let l:there = l:mark.text ==# '' ? [l:mark.line] : get(l:at, l:mark.text, [])
    let [l:best, l:far] = [0, len(l:there) == 1 ? len(a:lines) + l:due : 51]
    for l:n in l:there
      if abs(l:n - l:due) < l:far && !has_key(l:taken, l:n) && l:n <= len(a:lines)
        let [l:best, l:far] = [l:n, abs(l:n - l:due)]
      endif
    endfor
    let l:taken[l:best] = 1
    let l:shift = l:best == 0 ? l:shift : l:best - l:mark.line
    call add(l:found, l:best)
  endfor
  return l:found
endfunction

function! s:Unmark(buffer) abort
  if has('nvim')
    call nvim_buf_clear_namespace(a:buffer, s:space, 0, -1)
  else
    call prop_remove({'type': 'nytp', 'bufnr': a:buffer, 'all': v:true})
  endif
endfunction

function! s:MarkLine(buffer, line, label) abort
  if has('nvim')
    call nvim_buf_set_extmark(a:buffer, s:space, a:line - 1, 0, {'virt_text': [[a:label, 'NytpMark']]})
  else
    call prop_add(a:line, 0, {'type': 'nytp', 'bufnr': a:buffer, 'text': '  ' . a:label})
  endif
endfunction

function! s:Mark(buffer) abort
  let l:path = resolve(fnamemodify(bufname(a:buffer), ':p'))
  if !bufloaded(a:buffer) || !has_key(s:marks, l:path)
    return
  endif
  let l:marks = s:marks[l:path]
  let l:found = s:Find(l:marks, getbufline(a:buffer, 1, '$'))
  let l:lost = count(l:found, 0)
  let l:name = fnamemodify(l:path, ':~:.')
  call s:Unmark(a:buffer)
  if l:lost * 2 > len(l:marks)
    return s:Warn(printf('%s is not the file that was profiled: %d of %d lines are not in it', l:name, l:lost, len(l:marks)))
  endif
  for l:i in range(len(l:marks))
    if l:found[l:i] > 0
      call s:MarkLine(a:buffer, l:found[l:i], l:marks[l:i].label)
    endif
  endfor
  if l:lost > 0
    call s:Warn(printf('%s has changed: %d of %d lines are not in it', l:name, l:lost, len(l:marks)))
  elseif count(map(copy(l:marks), 'v:val.text'), '') > 0
    call s:Warn(l:name . ': the profile has no source of it, its marks are by line number')
  endif
endfunction

function! s:MarkAll() abort
  for l:buffer in range(1, bufnr('$'))
    call s:Mark(l:buffer)
  endfor
endfunction

function! s:Clear() abort
  let s:marks = {}
  for l:buffer in filter(range(1, bufnr('$')), 'bufloaded(v:val)')
    call s:Unmark(l:buffer)
  endfor
endfunction

function! s:Load(arguments) abort
  let l:errors = tempname()
  let l:command = [get(g:, 'nytp_command', 'nytp-export'), '--quickfix=0'] + a:arguments
  let l:rows = systemlist(join(map(l:command, 'shellescape(v:val)')) . ' 2>' . shellescape(l:errors))
  let l:status = v:shell_error
  for l:message in filereadable(l:errors) ? readfile(l:errors) : []
    call s:Warn(l:message)
  endfor
  call delete(l:errors)
  if l:status != 0 && empty(l:rows)
    return
  endif
  call s:Clear()
  for l:row in l:rows
    let l:part = matchlist(l:row, s:row)
    if !empty(l:part) && str2float(l:part[4]) >= get(g:, 'nytp_least', 0.1)
      let l:path = resolve(fnamemodify(l:part[1], ':p'))
      let l:mark = {'line': str2nr(l:part[2]), 'text': s:Words(l:part[5]), 'label': l:part[3]}
      let s:marks[l:path] = add(get(s:marks, l:path, []), l:mark)
    endif
  endfor
  for l:marks in values(s:marks)
    call sort(l:marks, {a, b -> a.line - b.line})
  endfor
  call setqflist([], ' ', {'title': join(l:command), 'lines': l:rows, 'efm': '%f:%l:%c: %m'})
  call s:MarkAll()
endfunction

command! -nargs=* -complete=file Nytp call s:Load([<f-args>])
command! NytpClear call s:Clear()
augroup nytp
  autocmd!
  autocmd BufReadPost,BufWritePost * call s:Mark(str2nr(expand('<abuf>')))
augroup END
