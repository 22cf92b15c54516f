package driver

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/scheduler/journal"
)

const extension = ".oxj"

var numbered = regexp.MustCompile(`\.(\d{4,9})\.oxj$`)

func (r *Recorder) named(part int) string {
	return fmt.Sprintf("%s.%04d%s", strings.TrimSuffix(r.first, extension), part, extension)
}

func partOf(path string) (first string, number int) {
	if m := numbered.FindStringSubmatch(path); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 1 {
			return strings.TrimSuffix(path, m[0]) + extension, n
		}
	}
	return path, 1
}

// JournalParts returns the paths of all existing files of the journal to which the file at path belongs, in order.
func JournalParts(path string) ([]string, error) {
	first, n := partOf(path)
	if n == 1 && filepath.Ext(path) != extension {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	var all []string
	for _, e := range entries {
		other := filepath.Join(filepath.Dir(path), e.Name())
		if f, _ := partOf(other); filepath.Clean(first) == f && e.Type().IsRegular() {
			all = append(all, other)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		_, i := partOf(a)
		_, j := partOf(b)
		return cmp.Compare(i, j)
	})
	if !slices.Contains(all, filepath.Clean(path)) {
		return []string{path}, nil // not a regular file, or missing
	}
	return all, nil
}

// A JournalFile is an open journal, which may consist of several files.
type JournalFile struct {
	*journal.File
	closers []io.Closer
}

// OpenJournal opens the files of a journal, given in order. through, if not nil, wraps each file.
func OpenJournal(through func(*os.File) io.ReaderAt, paths ...string) (*JournalFile, error) {
	f := &JournalFile{}
	sources := make([]journal.Source, 0, len(paths))
	for _, path := range paths {
		part, err := os.Open(path)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("journal: %w", err), f.Close())
		}
		f.closers = append(f.closers, part)
		info, err := part.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		s := journal.Source{ReaderAt: part, Size: info.Size()}
		if through != nil {
			s.ReaderAt = through(part)
		}
		sources = append(sources, s)
	}
	var err error
	if f.File, err = journal.OpenParts(sources...); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Close closes the files.
func (f *JournalFile) Close() error {
	var errs []error
	for _, c := range f.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
