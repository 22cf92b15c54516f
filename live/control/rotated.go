package control

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

func (t *Tail) name(i int) string {
	if i == 0 {
		return t.Path
	}
	return fmt.Sprintf("%s.%d", t.Path, i)
}

func (t *Tail) open(i int) (*os.File, error) {
	f, err := os.Open(t.name(i))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no file is no mistake
	}
	return f, err
}

func (t *Tail) next(f *os.File) (next *os.File, gap bool, err error) {
	for {
		i, found, err := t.index(f)
		if err != nil || i == 0 {
			return nil, false, err
		}
		next, err := t.newer(i)
		if err != nil || next == nil {
			return nil, false, err
		}
		same, err := t.settled(f, i, next)
		if same && err == nil {
			return next, f != nil && !found, nil
		}
		if err := errors.Join(err, next.Close()); err != nil {
			return nil, false, err
		}
	}
}

func (t *Tail) newer(i int) (*os.File, error) {
	for j := i - 1; j >= 0; j-- {
		if f, err := t.open(j); f != nil || err != nil {
			return f, err
		}
	}
	return nil, nil //nolint:nilnil // no file is no mistake
}

func (t *Tail) settled(f *os.File, i int, next *os.File) (bool, error) {
	again, err := t.newer(i)
	if err != nil || again == nil {
		return false, err
	}
	defer again.Close()
	a, err := again.Stat()
	if err != nil {
		return false, err
	}
	b, err := next.Stat()
	if err != nil {
		return false, err
	}
	now, _, err := t.index(f)
	return now == i && os.SameFile(a, b), err
}

func (t *Tail) index(f *os.File) (i int, found bool, err error) {
	var own os.FileInfo
	if f != nil {
		if own, err = f.Stat(); err != nil {
			return 0, false, err
		}
	}
	oldest := -1
	for i := 0; i <= oldest+2; i++ {
		info, err := os.Stat(t.name(i))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return 0, false, err
		case own != nil && os.SameFile(own, info):
			return i, true, nil
		default:
			oldest = i
		}
	}
	return oldest + 1, false, nil
}
