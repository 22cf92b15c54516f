package driver

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
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

// JournalParts returns the paths of all existing files of the journal to which path belongs, in order.
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

type digest struct {
	mu sync.Mutex
	h  hash.Hash
	w  *journal.Writer
}

func (d *digest) begin(h journal.Header) {
	d.h = sha256.New()
	d.w = journal.NewWriter(d.h, h)
}

func (d *digest) Event(now time.Time, ev scheduler.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.w.Event(now, ev)
}

func (d *digest) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.w.Round(s, p, acts)
}

// Digest returns the SHA-256 of the journal written so far, in hexadecimal. It needs Options.Digest and an attached
// Backend.
func (d *Driver) Digest() string {
	d.digest.mu.Lock()
	defer d.digest.mu.Unlock()
	_ = d.digest.w.Flush() // writing to a hash cannot fail
	return hex.EncodeToString(d.digest.h.Sum(nil))
}
