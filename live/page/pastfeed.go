package page

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// A pastFeed packs the timeline at most once every pastFor, for all viewers.
type pastFeed struct {
	mu    sync.Mutex
	text  []byte
	tag   string // from the content
	until time.Time
}

const pastFor = 2 * time.Second

func (s *Server) timeline(w http.ResponseWriter, r *http.Request) {
	text, tag, err := s.past.read(r.Context(), s.source)
	if err != nil {
		fail(w, err)
		return
	}
	tagged(w, r, tag, text)
}

func (p *pastFeed) read(ctx context.Context, source Source) ([]byte, string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Now().Before(p.until) {
		return p.text, p.tag, nil
	}
	line, err := source.Timeline(ctx)
	if err != nil {
		return nil, "", err
	}
	plain, err := json.Marshal([]any{line.Tracks, line.Nodes})
	if err != nil {
		return nil, "", err
	}
	if tag := strconv.FormatUint(maphash.Bytes(seed, plain), 36); tag != p.tag {
		text, err := packed(line)
		if err != nil {
			return nil, "", err
		}
		p.text, p.tag = text, tag
	}
	p.until = time.Now().Add(pastFor)
	return p.text, p.tag, nil
}
