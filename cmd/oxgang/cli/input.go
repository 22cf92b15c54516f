package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/run"
)

// ErrInterrupted says that reading ended because its context had.
var ErrInterrupted = errors.New("interrupted")

// OsFiles are the files of this machine.
func OsFiles() run.Files { return FilesUntil(context.Background()) }

// FilesUntil are the files of this machine, whose reading ends with a context.
func FilesUntil(ctx context.Context) run.Files {
	return run.Files{
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

// OpenJournal opens a journal, with all its parts that are there if the file is one of them; f is what is to be closed.
func OpenJournal(ctx context.Context, file string) (j *journal.Reader, f io.Closer, err error) {
	if parts := partsOf(file); len(parts) > 1 {
		whole, err := openParts(ctx, parts)
		if err != nil {
			return nil, nil, err
		}
		j, err = whole.Start()
		return j, whole, err
	}
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

// JournalOf returns the first part that is there of the journal that a file is of: the file itself, where it has one part.
func JournalOf(file string) string { return partsOf(file)[0] }

// partsOf returns the parts of the journal that a file is of: those that are there.
func partsOf(file string) []string {
	parts, err := driver.JournalParts(file)
	if err != nil {
		return []string{file} // opening it says what is wrong
	}
	return parts
}

// openParts opens the parts of a journal, in order.
func openParts(ctx context.Context, parts []string) (*JournalFile, error) {
	f, err := driver.OpenJournal(func(f *os.File) io.ReaderAt { return interruptible{ctx, f} }, parts...)
	if err != nil {
		return nil, fmt.Errorf("%s and what follows: %w", parts[0], err)
	}
	return &JournalFile{f.File, f}, nil
}

// A JournalFile is a journal that is open.
type JournalFile struct {
	*journal.File
	io.Closer
}

// OpenJournalFile opens a journal, with all its parts that are there, in which readers can begin at checkpoints, until a context ends. Standard
// input, for "-", and pipes are read into memory first.
func OpenJournalFile(ctx context.Context, name string) (*JournalFile, error) {
	if parts := partsOf(name); len(parts) > 1 {
		return openParts(ctx, parts)
	}
	f, err := Open(ctx, name)
	if err != nil {
		return nil, err
	}
	src, size, err := randomly(f)
	if err == nil {
		var j *journal.File
		if j, err = journal.OpenFile(src, size); err == nil {
			return &JournalFile{j, f}, nil
		}
	}
	_ = f.Close() // the first error says more
	return nil, fmt.Errorf("%s: %w", name, err)
}

// randomly returns what can be read at any place.
func randomly(f io.Reader) (src io.ReaderAt, size int64, err error) {
	if file, ok := f.(interruptible); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return file, info.Size(), nil
		}
	}
	text, err := io.ReadAll(f)
	return bytes.NewReader(text), int64(len(text)), err
}

// ReadAt reads from the file.
func (r interruptible) ReadAt(p []byte, at int64) (int, error) {
	if r.ctx.Err() != nil {
		return 0, ErrInterrupted
	}
	return r.File.ReadAt(p, at)
}
