package fault

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"
)

type late struct {
	data json.RawMessage
	due  time.Time
	free <-chan struct{} // nil: free
}

const maxLate = 1 << 17

func (p *Proxy) stream(ctx context.Context, w http.ResponseWriter, body io.Reader, c *Call) {
	events := make(chan late, maxLate)
	go p.receive(ctx, body, c.Resource, events)
	flush := http.NewResponseController(w)
	_ = flush.Flush() // the client waits for the headers
	for e := range events {
		if e.wait(ctx) != nil {
			return
		}
		if _, err := w.Write(append(e.data, '\n')); err != nil {
			return
		}
		_ = flush.Flush()
	}
}

func (p *Proxy) receive(ctx context.Context, body io.Reader, resource string, events chan<- late) {
	defer close(events)
	d := json.NewDecoder(body)
	for {
		var data json.RawMessage
		if d.Decode(&data) != nil {
			return
		}
		if e := eventOf(data); e.Type != "BOOKMARK" && p.Rules.drop(resource, e) {
			continue
		}
		select {
		case events <- late{data, time.Now().Add(p.Rules.delay(resource)), p.Rules.hold(resource)}:
		case <-ctx.Done():
			return
		}
	}
}

func (e *late) wait(ctx context.Context) error {
	if e.free != nil {
		select {
		case <-e.free:
		case <-ctx.Done():
		}
	}
	return pause(ctx, time.Until(e.due))
}

func eventOf(data []byte) Event {
	var e struct {
		Type   string `json:"type"`
		Object struct {
			Metadata struct {
				Namespace string `json:"namespace"`
				Name      string `json:"name"`
			} `json:"metadata"`
		} `json:"object"`
	}
	if json.Unmarshal(data, &e) != nil {
		return Event{}
	}
	return Event{e.Type, e.Object.Metadata.Namespace, e.Object.Metadata.Name}
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
