package serve

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

// A recorder writes the journal of this Run, line by line. A journal that cannot be written
// any more stops no scheduling.
type recorder struct {
	path  string
	start time.Time
	file  *os.File

	mu  sync.Mutex
	w   *journal.Writer
	err error
}

// newRecorder begins the journal of a run that starts now.
func newRecorder(dir string, h journal.Header) (*recorder, error) {
	path := filepath.Join(dir, h.Start.Format("20060102T150405.000Z")+".oxj")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	r := &recorder{path: path, start: h.Start, file: f, w: journal.NewWriter(f, h)}
	r.flush()
	return r, nil
}

// Event implements scheduler.Observer.
func (r *recorder) Event(now time.Time, ev scheduler.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.w.Event(now, ev)
	r.flush()
}

// Round implements scheduler.Observer.
func (r *recorder) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.w.Round(s, p, acts)
	r.flush()
}

func (r *recorder) flush() {
	if err := r.w.Flush(); r.err == nil {
		r.err = err
	}
}

// trouble returns what keeps the journal from being written; nil if nothing does.
func (r *recorder) trouble() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close ends the journal.
func (r *recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.err, r.file.Close())
}
