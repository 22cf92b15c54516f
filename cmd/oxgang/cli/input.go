package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload/generate"
)

// ErrInterrupted is returned if the user interrupts the reading of a file.
var ErrInterrupted = errors.New("interrupted")

// OsFiles returns functions with which a simulation reads files of this machine.
func OsFiles() run.Files { return FilesUntil(context.Background()) }

// FilesUntil is OsFiles, but reads fail when ctx ends.
func FilesUntil(ctx context.Context) run.Files {
	return run.Files{
		Open: func(name string) (io.ReadCloser, error) { return Open(ctx, name) },
		Dir:  os.DirFS,
	}
}

// Open opens the file called name, or standard input for "-". Reads fail after ctx has ended.
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

// ReadMapping reads a mapping file.
func ReadMapping(ctx context.Context, name string) (*parse.Mapping, error) {
	f, err := Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parse.ReadMapping(f, name)
}

type interruptible struct {
	ctx context.Context
	*os.File
}

func (r interruptible) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, ErrInterrupted
	}
	return r.File.Read(p)
}

// OpenJournal opens a journal with all existing parts. The caller closes f.
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
		_ = text.Close() // the first error is more useful
		return nil, nil, err
	}
	return j, text, nil
}

// JournalOf returns the first existing file of the journal to which file belongs.
func JournalOf(file string) string { return partsOf(file)[0] }

func partsOf(file string) []string {
	parts, err := driver.JournalParts(file)
	if err != nil {
		return []string{file} // opening it fails
	}
	return parts
}

func openParts(ctx context.Context, parts []string) (*JournalFile, error) {
	f, err := driver.OpenJournal(func(f *os.File) io.ReaderAt { return interruptible{ctx, f} }, parts...)
	if err != nil {
		return nil, fmt.Errorf("%s and later parts: %w", parts[0], err)
	}
	return &JournalFile{f.File, f}, nil
}

// A JournalFile is an open journal.
type JournalFile struct {
	*journal.File
	io.Closer
}

// OpenJournalFile opens a journal with all its existing parts. Reads fail after ctx has ended. Standard input ("-") and
// pipes are read into memory.
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
	_ = f.Close() // the first error is more useful
	return nil, fmt.Errorf("%s: %w", name, err)
}

func randomly(f io.Reader) (src io.ReaderAt, size int64, err error) {
	if file, ok := f.(interruptible); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return file, info.Size(), nil
		}
	}
	text, err := io.ReadAll(f)
	return bytes.NewReader(text), int64(len(text)), err
}

func (r interruptible) ReadAt(p []byte, at int64) (int, error) {
	if r.ctx.Err() != nil {
		return 0, ErrInterrupted
	}
	return r.File.ReadAt(p, at)
}

// TraceFormats returns the names of the trace formats. If written is true, it returns only formats that can be written.
func TraceFormats(written bool) []string {
	var names []string
	for _, f := range trace.Formats() {
		if !written || f.Write != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// BadRows returns the values of the setting on-bad-row.
func BadRows() []string {
	return []string{parse.Few.String(), parse.Fail.String(), parse.Skip.String()}
}

// GeneratorNames returns the kinds of generated traces.
func GeneratorNames() []string {
	var names []string
	for _, k := range generate.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// ParseRange parses a number of GPUs, such as "2", or a range, such as "1..4".
func ParseRange(text string) (control.Range, error) {
	low, high, elastic := strings.Cut(text, "..")
	if !elastic {
		high = low
	}
	least, err := strconv.ParseUint(low, 10, 16)
	most, bad := strconv.ParseUint(high, 10, 16)
	if err != nil || bad != nil || least < 1 || most < least {
		return control.Range{}, fmt.Errorf("--gpus %q, want a number, or a range such as 1..4", text)
	}
	return control.Range{Min: int(least), Max: int(most)}, nil
}
