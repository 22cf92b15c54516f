//go:build linux

package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/oxgang/oxgang/live/account"
)

const (
	lineMax = 64 << 10 // bytes; longer lines are split
	recent  = 128 << 10
	tailMax = 20 // lines
	tailCut = 1 << 10
)

// A logFile is the rotated output of a job's workers: path, path.1 and so on. Writing never fails, because a full
// disk must not stop a training; tail reports lost output.
type logFile struct {
	path  string
	bytes int64
	files int
	user  *account.User // may read it; nil for the owner only

	mu   sync.Mutex
	f    *os.File
	size int64
	last []byte // at least the last recent/2 bytes
	lost error
}

func openLog(l *Launch) (*logFile, error) {
	w := &logFile{path: l.Log, bytes: l.LogBytes, files: l.LogFiles, user: l.User}
	return w, w.open()
}

func (w *logFile) open() error {
	f, err := os.OpenFile(w.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && w.user != nil {
		err = f.Chown(w.user.UID, w.user.GID)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	w.f, w.size = f, info.Size()
	return nil
}

// write appends whole lines, in total at most about lineMax bytes.
func (w *logFile) write(p []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.remember(p)
	if err := w.append(p); err != nil && w.lost == nil {
		w.lost = err
	}
}

func (w *logFile) append(p []byte) error {
	if w.f == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	if w.size > 0 && w.size+int64(len(p)) > w.bytes {
		if err := w.rotate(); err != nil {
			return err
		}
	}
	n, err := w.f.Write(p)
	w.size += int64(n)
	return err
}

func (w *logFile) rotate() error {
	errs := []error{w.f.Close(), gone(os.Remove(w.name(w.files - 1)))}
	w.f = nil
	for i := w.files - 2; i >= 0; i-- {
		errs = append(errs, gone(os.Rename(w.name(i), w.name(i+1))))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return w.open()
}

func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (w *logFile) name(i int) string {
	if i == 0 {
		return w.path
	}
	return fmt.Sprintf("%s.%d", w.path, i)
}

func (w *logFile) remember(p []byte) {
	if len(p) >= recent/2 {
		w.last = append(w.last[:0], p[len(p)-recent/2:]...)
		return
	}
	if len(w.last)+len(p) > recent {
		w.last = append(w.last[:0], w.last[len(w.last)-recent/2:]...)
	}
	w.last = append(w.last, p...)
}

func (w *logFile) tail() ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := strings.TrimSuffix(strings.ToValidUTF8(string(w.last), "\uFFFD"), "\n")
	if text == "" {
		return nil, w.lost
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-tailMax):]
	for i, line := range lines {
		if len(line) > tailCut {
			lines[i] = strings.ToValidUTF8(line[:tailCut], "") + " ..."
		}
	}
	return lines, w.lost
}

func copyLines(w *logFile, r io.Reader, prefix string) {
	buf, out := make([]byte, 0, lineMax), []byte(nil)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		end := bytes.LastIndexByte(buf, '\n') + 1
		if end == 0 && (len(buf) == cap(buf) || err != nil) {
			end = len(buf) // a long or the last line
		}
		if end > 0 {
			out = prefixed(out[:0], buf[:end], prefix)
			w.write(out)
			buf = buf[:copy(buf, buf[end:])]
		}
		if err != nil && len(buf) == 0 {
			return
		}
	}
}

func prefixed(out, text []byte, prefix string) []byte {
	if prefix == "" {
		out = append(out, text...)
	} else {
		for line := range bytes.Lines(text) {
			out = append(append(out, prefix...), line...)
		}
	}
	if out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	return out
}
