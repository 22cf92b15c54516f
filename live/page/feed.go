package page

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"net/http"
	"sync"
	"time"
)

// A feed is the overview of a live source, looked at once for all viewers.
type feed struct {
	overview func(context.Context, time.Duration) (*Overview, error) // of the source

	mu     sync.Mutex
	number int           // of the overview, from 1; 0: there is none yet
	hash   uint64        // of the overview but for its time
	text   []byte        // packed
	err    error         // of the last look
	next   chan struct{} // is closed when there is another overview
}

var seed = maphash.MakeSeed()

// look asks the source for its overview. It is packed only if it is another.
func (f *feed) look(ctx context.Context) {
	overview, err := f.overview(ctx, 0)
	var text []byte
	var hash uint64
	if err == nil {
		hash, err = timeless(overview)
	}
	if f.same(hash, err) {
		return
	}
	if err == nil {
		text, err = packed(overview)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err = err; err == nil {
		f.text, f.hash = text, hash
	}
	f.number++
	if f.next != nil {
		close(f.next)
	}
	f.next = make(chan struct{})
}

// same reports whether an overview, or the error in its place, is what viewers have.
func (f *feed) same(hash uint64, err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.number == 0 || (err == nil) != (f.err == nil) || err == nil && hash != f.hash {
		return false
	}
	f.err = err
	return true
}

// timeless returns a hash of all of an overview but its time.
func timeless(overview *Overview) (uint64, error) {
	other, s := *overview, *overview.Status
	s.At, other.Elapsed, other.Last, other.Status = time.Time{}, 0, 0, &s
	plain, err := json.Marshal(other)
	return maphash.Bytes(seed, plain), err
}

// now returns the overview, its number, and what is closed when there is another.
func (f *feed) now() (text []byte, number int, next chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil {
		f.next = make(chan struct{})
	}
	return f.text, f.number, f.next, f.err
}

// write answers with the overview.
func (f *feed) write(w http.ResponseWriter, r *http.Request) {
	text, number, next, err := f.now()
	if number == 0 { // nobody has looked yet
		select {
		case <-next:
		case <-r.Context().Done():
			return
		}
		text, _, _, err = f.now()
	}
	if err != nil {
		fail(w, err)
		return
	}
	send(w, r, text)
}

// beat is how often a connection without news gets a comment, so that one that is gone is noticed.
const beat = 15 * time.Second

// changes sends the number of each new overview. A source that is not live has none.
func (f *feed) changes(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for said := -1; ; {
		_, number, next, _ := f.now()
		line := ": beat\n\n"
		if number != said {
			line, said = fmt.Sprintf("data: %d\n\n", number), number
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
