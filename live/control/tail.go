package control

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// A Tail reads the output of a job from Path, the newest file, and from Path.1 and so on. Files may be renamed, but not
// truncated or rewritten.
type Tail struct {
	Path string
	// Ended reports whether the log is complete.
	Ended func() bool
}

const pollTime = 200 * time.Millisecond

// Copy writes the last lines of the output to w; lines is their number. If follow is true, it continues with new output
// until the log has ended or ctx is done.
func (t *Tail) Copy(ctx context.Context, lines int, follow bool, w io.Writer) error {
	f, err := t.start(lines)
	if err != nil {
		return err
	}
	for {
		ended := !follow || t.Ended()
		if f, err = t.drain(ctx, f, w); err != nil || ended {
			return errors.Join(err, closed(f))
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), closed(f))
		case <-time.After(pollTime):
		}
	}
}

func closed(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

func (t *Tail) start(lines int) (*os.File, error) {
	var best *os.File
	for i := 0; ; i++ {
		f, err := t.open(i)
		if err != nil {
			return nil, errors.Join(err, closed(best))
		}
		if f == nil {
			return best, nil
		}
		left, err := back(f, lines)
		if err != nil {
			return nil, errors.Join(err, f.Close(), closed(best))
		}
		if err := closed(best); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		best, lines = f, left
		if lines == 0 {
			return best, nil
		}
	}
}

func back(f *os.File, lines int) (left int, err error) {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil || lines == 0 || end == 0 {
		return lines, err
	}
	block := make([]byte, 1<<16)
	for at := end; at > 0; {
		n := min(at, int64(len(block)))
		at -= n
		if _, err := f.ReadAt(block[:n], at); err != nil {
			return 0, err
		}
		for i := n - 1; i >= 0; i-- {
			if block[i] != '\n' || at+i == end-1 { // no line begins after the last newline
				continue
			}
			if lines--; lines == 0 {
				_, err := f.Seek(at+i+1, io.SeekStart)
				return 0, err
			}
		}
	}
	_, err = f.Seek(0, io.SeekStart)
	return lines - 1, err
}

const lost = "[oxgang: some output is missing here; the program wrote faster than this command read]\n"

func (t *Tail) drain(ctx context.Context, f *os.File, w io.Writer) (*os.File, error) {
	for {
		next, gap, err := t.next(f)
		if err != nil {
			return f, err
		}
		if f != nil { // after the look for next, so that all of f is read
			if _, err := io.Copy(w, until{ctx, f}); err != nil {
				return f, errors.Join(err, closed(next))
			}
		}
		if next == nil {
			return f, nil
		}
		if gap {
			_, err = io.WriteString(w, lost)
		}
		if err := errors.Join(err, closed(f)); err != nil {
			return next, err
		}
		f = next
	}
}

type until struct {
	ctx context.Context
	f   *os.File
}

func (r until) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.f.Read(p)
}
