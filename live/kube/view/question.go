package view

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/whatif"
)

type asking func(ctx context.Context, queue string, q json.RawMessage) (json.RawMessage, error)

// AskBy makes the page answer what-if questions through the scheduler in namespace. Call it before the page is served.
func (p *Page) AskBy(k *Kubectl, namespace string) {
	p.ask = func(ctx context.Context, queue string, q json.RawMessage) (json.RawMessage, error) {
		return k.Ask(ctx, namespace, queue, q)
	}
}

// Asks implements page.Asker.
func (p *Page) Asks() bool { return p.ask != nil }

// Ask implements page.Asker. The answer counts jobs that the user may not see, without names.
func (p *Page) Ask(ctx context.Context, q whatif.Question, _ time.Duration) (*whatif.Answer, error) {
	now, err := p.Now()
	if err != nil {
		return nil, err
	}
	queue, err := toScheduler(now, &q)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	text, err = p.ask(ctx, queue, text)
	if err != nil {
		return nil, &page.RefusedError{Text: err.Error()}
	}
	a := new(whatif.Answer)
	if err := json.Unmarshal(text, a); err != nil {
		return nil, err
	}
	toPage(now, a)
	return a, nil
}

func toScheduler(now *status.Status, q *whatif.Question) (queue string, err error) {
	for _, id := range []*job.ID{&q.Cancel, &q.Resize} {
		if *id == "" {
			continue
		}
		j := now.Job(*id)
		if j == nil {
			return "", fmt.Errorf("%s: %w", *id, page.ErrUnknown)
		}
		*id, queue = job.ID(j.UID), j.Queue
	}
	if q.Type == "" {
		return queue, nil
	}
	for _, t := range now.GPUs {
		switch {
		case t.Type != q.Type:
		case queue != "":
			return "", &page.RefusedError{Text: fmt.Sprintf("queues %s and %s both have nodes of type %s: choose a type that only one queue has", queue, t.Queue, t.Type)}
		default:
			queue = t.Queue
		}
	}
	if queue == "" {
		return "", errors.New("no queue has nodes of that type")
	}
	return queue, nil
}

func toPage(now *status.Status, a *whatif.Answer) {
	names := make(map[job.ID]job.ID, len(now.Jobs))
	for i := range now.Jobs {
		names[job.ID(now.Jobs[i].UID)] = now.Jobs[i].ID
	}
	var seen []whatif.Shift
	for _, h := range a.Jobs {
		if name, ok := names[h.Job]; ok {
			h.Job = name
			seen = append(seen, h)
		}
	}
	a.Jobs = seen
}
