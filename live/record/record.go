// Package record writes the journals of live runs.
package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/oxgang/oxgang/journal"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A Recorder writes the journal of a run, line by line. It is a scheduler.Observer. If the
// journal cannot be written any more, scheduling goes on: Trouble says why.
type Recorder struct {
	Path  string    // of the file
	Start time.Time // of the run
	file  *os.File

	mu  sync.Mutex
	w   *journal.Writer
	err error
}

// New creates the journal of a run in a directory. The file has the start of the run as its
// name; an error is returned if it exists, or the directory does not.
func New(dir string, h journal.Header) (*Recorder, error) {
	path := filepath.Join(dir, h.Start.Format("20060102T150405.000Z")+".oxj")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	r := &Recorder{Path: path, Start: h.Start, file: f, w: journal.NewWriter(f, h)}
	r.flush()
	return r, nil
}

// Event implements scheduler.Observer.
func (r *Recorder) Event(now time.Time, ev scheduler.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.w.Event(now, ev)
	r.flush()
}

// Round implements scheduler.Observer.
func (r *Recorder) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.w.Round(s, p, acts)
	r.flush()
}

func (r *Recorder) flush() {
	if err := r.w.Flush(); r.err == nil {
		r.err = err
	}
}

// Trouble returns what keeps the journal from being written; nil if nothing does.
func (r *Recorder) Trouble() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close records the end of the journal and closes its file.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.w.Close(); r.err == nil {
		r.err = err
	}
	return errors.Join(r.err, r.file.Close())
}
