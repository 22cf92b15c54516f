package page

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
)

type feed struct {
	overview func(context.Context, time.Duration) (*Overview, error)

	mu     sync.Mutex
	number int       // of the overview, from 1; 0: none
	hash   uint64    // without the time
	last   *Overview // nil before the first
	at     time.Time // of the last successful look
	text   []byte
	err    error         // before the first overview
	failed bool          // the last look
	next   chan struct{} // closed when there is a new overview

	streams atomic.Int32 // open ones
}

// maxStreams is the limit of open event streams, five times the viewers that the load test has. A browser that gets no
// stream asks again.
const maxStreams = 1000

var seed = maphash.MakeSeed()

// look reads the state. If that fails, the last known state stays, marked as stale.
func (f *feed) look(ctx context.Context) {
	overview, err := f.overview(ctx, 0)
	if err != nil {
		f.fail(err)
		return
	}
	hash, err := timeless(overview)
	if err != nil || f.same(hash, overview.At) {
		return
	}
	text, err := packed(overview)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed, f.at, f.hash, f.last, f.text, f.err = false, overview.At, hash, overview, text, err
	f.announce()
}

func (f *feed) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed {
		return
	}
	f.failed, f.hash, f.err = true, 0, err
	if f.last != nil {
		f.text, f.err = packed(f.last.stale(f.at, err))
	}
	f.announce()
}

func (o *Overview) stale(at time.Time, why error) *Overview {
	other, s := *o, *o.Status
	s.At = at
	other.Status, other.Stale = &s, printable.Line(why.Error())
	return &other
}

// announce needs the lock.
func (f *feed) announce() {
	f.number++
	if f.next != nil {
		close(f.next)
	}
	f.next = make(chan struct{})
}

func (f *feed) same(hash uint64, at time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil || hash != f.hash {
		return false
	}
	f.at = at
	return true
}

func timeless(overview *Overview) (uint64, error) {
	other, s := *overview, *overview.Status
	s.At, other.Elapsed, other.Last, other.Status = time.Time{}, 0, 0, &s
	plain, err := json.Marshal(other)
	return maphash.Bytes(seed, plain), err
}

func (f *feed) now() (text []byte, number int, next chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil {
		f.next = make(chan struct{})
	}
	return f.text, f.number, f.next, f.err
}

func (f *feed) looked() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at
}

// write sends the overview. The header Oxgang-At is the time at which it was last confirmed.
func (f *feed) write(w http.ResponseWriter, r *http.Request) {
	text, number, next, err := f.now()
	if number == 0 { // not fetched yet
		select {
		case <-next:
		case <-r.Context().Done():
			return
		}
		text, number, _, err = f.now()
	}
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Oxgang-At", f.looked().UTC().Format(time.RFC3339Nano))
	tagged(w, r, strconv.Itoa(number), text)
}

// beat is the time between comments on an idle connection, which reveal that it is closed.
const beat = 15 * time.Second

func (f *feed) changes(w http.ResponseWriter, r *http.Request) {
	defer f.streams.Add(-1)
	if f.streams.Add(1) > maxStreams {
		http.Error(w, "too many viewers", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for sent := -1; ; {
		_, number, next, _ := f.now()
		line := ": beat\n\n"
		if number != sent {
			line, sent = fmt.Sprintf("data: %d\n\n", number), number
		}
		if _, err := fmt.Fprint(w, line); err != nil {
			return
		}
		if err := out.Flush(); err != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-next:
		case <-time.After(beat):
		}
	}
}
