package run

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/config"
)

type window map[job.ID]bool

func (in *Inputs) window(c *config.Config) (window, error) {
	if c.Window.IsZero() {
		return nil, nil
	}
	if c.Window.Last >= len(in.Arrivals) {
		return nil, fmt.Errorf("window %s: there are %d jobs, numbered from 0; want a window within", c.Window, len(in.Arrivals))
	}
	w := window{}
	for i := c.Window.First; i <= c.Window.Last; i++ {
		w[in.Arrivals[i].Spec.ID] = true
	}
	return w, nil
}

func (w window) measures(spec *job.Spec) bool { return w == nil || w[spec.ID] }

type passing struct {
	scheduler.Backend
	left int // live jobs of the window
	of   window
}

func (w window) through(b scheduler.Backend) scheduler.Backend {
	if w == nil {
		return b
	}
	return &passing{b, len(w), w}
}

func (p *passing) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	if p.left == 0 {
		return nil, io.EOF
	}
	ev, err := p.Backend.Next(ctx, deadline)
	if e, ok := ev.(scheduler.Exited); ok && e.Outcome != scheduler.Lost && p.of[e.Job] {
		p.left--
	}
	return ev, err
}
