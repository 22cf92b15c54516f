package cli

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/oxgang/oxgang/experiments"
	"github.com/oxgang/oxgang/journal"
)

// ErrInterrupted says that reading ended because its context had.
var ErrInterrupted = errors.New("interrupted")

// OsFiles are the files of this machine.
func OsFiles() experiments.Files { return FilesUntil(context.Background()) }

// FilesUntil are the files of this machine, whose reading ends with a context.
func FilesUntil(ctx context.Context) experiments.Files {
	return experiments.Files{
		Open: func(name string) (io.ReadCloser, error) { return Open(ctx, name) },
		Dir:  os.DirFS,
	}
}

// Open opens a file, or standard input for "-", for as long as the context
// lasts.
func Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if name == "-" {
		return interruptible{ctx, os.Stdin}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return interruptible{ctx, f}, nil
}

// interruptible is a file that can be read until its context ends.
type interruptible struct {
	ctx context.Context
	*os.File
}

// Read reads from the file.
func (r interruptible) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, ErrInterrupted
	}
	return r.File.Read(p)
}

// OpenJournal opens a journal; f is its file, to be closed.
func OpenJournal(ctx context.Context, file string) (j *journal.Reader, f io.Closer, err error) {
	text, err := Open(ctx, file)
	if err != nil {
		return nil, nil, err
	}
	if j, err = journal.NewReader(text); err != nil {
		_ = text.Close() // the first error says more
		return nil, nil, err
	}
	return j, text, nil
}
