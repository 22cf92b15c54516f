package driver

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"sync"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

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

// Digest returns the SHA-256 of the journal written so far, in hexadecimal. Options.Digest must be set, and a Backend
// attached.
func (d *Driver) Digest() string {
	d.digest.mu.Lock()
	defer d.digest.mu.Unlock()
	_ = d.digest.w.Flush() // writing to a hash cannot fail
	return hex.EncodeToString(d.digest.h.Sum(nil))
}
