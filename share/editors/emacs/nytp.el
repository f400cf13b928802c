;;; nytp.el --- Lines of a Perl profile  -*- lexical-binding: t -*-
;; SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
;; Version: 0.1
;; Package-Requires: ((emacs "26.1"))

;;; Commentary:

;; M-x nytp marks each line of a profile with its share of time, its time and its hits.
;; M-x nytp-clear removes the marks.  M-x compile with "nytp-export --quickfix" and
;; next-error go from line to line.
;;
;; Marks move with their lines.  When a file is visited, reverted and saved, each is looked
;; for by its line's text.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defgroup nytp nil "Lines of a Perl profile." :group 'tools)
(defcustom nytp-command "nytp-export" "The command that reads profiles." :type 'string)
(defcustom nytp-least 0.1 "Lines that take less, in percent, have no mark." :type 'number)
(defface nytp-mark '((t :inherit shadow)) "The text behind a line.")

(defvar nytp--marks (make-hash-table :test 'equal)
  "By true name of the file the list of its (LINE TEXT LABEL), by line.")

(defconst nytp--row
  "^\\(.+?\\):\\([0-9]+\\):[0-9]+: \\(\\([0-9.]+\\)%, [^:\n]*\\)\\(?:: \\(.*\\)\\)?$")

(defun nytp--words (text)
  "Return TEXT with one blank between its words."
  (string-join (split-string text "[ \t\r]+" t) " "))

(defun nytp--say (text &rest arguments)
  "Show a warning made of TEXT and ARGUMENTS."
  (message "nytp: %s" (apply #'format text arguments)))

(defun nytp--find (marks lines)
  "Return the line that each of MARKS belongs to now, nil where there is none.
This is the one of LINES with its text, if it is the only one, else the
one nearest to where the marks above say, within 50 lines."
  (let ((at (make-hash-table :test 'equal)) (taken (make-hash-table)) (shift 0) (n 0))
    (dolist (line lines)
      (push (cl-incf n) (gethash (nytp--words line) at)))
    (mapcar
     (pcase-lambda (`(,line ,text ,_))
       (let* ((due (+ line shift)) best
              (there (if text (reverse (gethash text at)) (list line)))
              (far (if (cdr there) 51 (+ n (abs due)))))
         (dolist (candidate there)
           (when (and (< (abs (- candidate due)) far) (<= candidate n)
                      (not (gethash candidate taken)))
             (setq best candidate far (abs (- candidate due)))))
         (when best
           (puthash best t taken)
           (setq shift (- best line)))
         best))
     marks)))

(defun nytp--mark-line (line label)
  "Show LABEL behind LINE."
  (save-excursion
    (goto-char (point-min))
    (forward-line (1- line))
    (let ((overlay (make-overlay (line-beginning-position) (line-end-position) nil t)))
      (overlay-put overlay 'nytp t)
      (overlay-put overlay 'after-string (propertize (concat "  " label) 'face 'nytp-mark)))))

(defun nytp--mark-buffer ()
  "Mark the lines of the current buffer, if the profile has its file."
  (when-let* ((file buffer-file-name) (marks (gethash (file-truename file) nytp--marks)))
    (save-restriction
      (widen)
      (let* ((found (nytp--find marks (split-string (buffer-substring-no-properties
                                                     (point-min) (point-max)) "\n")))
             (name (file-name-nondirectory file)) (n (length marks)) (lost (cl-count nil found)))
        (remove-overlays (point-min) (point-max) 'nytp t)
        (if (> (* 2 lost) n)
            (nytp--say "%s is not the file that was profiled: %d of %d lines are not in it" name lost n)
          (cl-mapc (lambda (mark line) (when line (nytp--mark-line line (nth 2 mark)))) marks found)
          (cond ((> lost 0) (nytp--say "%s has changed: %d of %d lines are not in it" name lost n))
                ((cl-find nil marks :key #'cadr)
                 (nytp--say "%s: the profile has no source of it, its marks are by line number" name))))))))

(defun nytp--read-rows ()
  "Keep the marks of the current buffer, the output of nytp-export."
  (goto-char (point-min))
  (while (re-search-forward nytp--row nil t)
    (when (>= (string-to-number (match-string 4)) nytp-least)
      (let ((text (match-string 5)))
        (push (list (string-to-number (match-string 2)) (and text (save-match-data (nytp--words text)))
                    (match-string 3))
              (gethash (save-match-data (file-truename (match-string 1))) nytp--marks)))))
  (maphash (lambda (file marks)
             (puthash file (sort marks (lambda (a b) (< (car a) (car b)))) nytp--marks))
           nytp--marks))

(defun nytp--mark-all ()
  "Mark the lines of all buffers."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer (nytp--mark-buffer))))

;;;###autoload
(defun nytp (profile &rest arguments)
  "Mark the lines of PROFILE; ARGUMENTS are more options of nytp-export."
  (interactive (list (read-file-name "Profile: " nil "nytprof.out" t)))
  (let ((errors (make-temp-file "nytp")) (folder default-directory))
    (unwind-protect
        (with-temp-buffer
          (setq default-directory folder)
          (let ((status (apply #'call-process nytp-command nil (list t errors) nil
                               "--quickfix=0" (append arguments (list (expand-file-name profile))))))
            (unless (zerop (file-attribute-size (file-attributes errors)))
              (nytp--say "%s" (string-trim (with-temp-buffer (insert-file-contents errors)
                                                             (buffer-string)))))
            (when (or (equal status 0) (> (buffer-size) 0))
              (nytp-clear)
              (nytp--read-rows)
              (nytp--mark-all))))
      (delete-file errors))))

;;;###autoload
(defun nytp-clear ()
  "Remove all marks."
  (interactive)
  (clrhash nytp--marks)
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer (remove-overlays nil nil 'nytp t))))

(add-hook 'find-file-hook #'nytp--mark-buffer)
(add-hook 'after-revert-hook #'nytp--mark-buffer)
(add-hook 'after-save-hook #'nytp--mark-buffer)

(provide 'nytp)
;;; nytp.el ends here
