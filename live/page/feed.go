package page

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

type feed struct {
	overview func(context.Context, time.Duration) (*Overview, error)

	mu     sync.Mutex
	number int    // of the overview, from 1; 0: none
	hash   uint64 // without the time
	text   []byte
	err    error         // of the last look
	next   chan struct{} // closed when there is a new overview

	streams atomic.Int32 // open ones
}

// maxStreams is the limit of open event streams, five times the viewers that the load test has. A browser that gets no
// stream asks again.
const maxStreams = 1000

var seed = maphash.MakeSeed()

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

func (f *feed) same(hash uint64, err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.number == 0 || (err == nil) != (f.err == nil) || err == nil && hash != f.hash {
		return false
	}
	f.err = err
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

func (f *feed) write(w http.ResponseWriter, r *http.Request) {
	text, number, next, err := f.now()
	if number == 0 { // not fetched yet
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
