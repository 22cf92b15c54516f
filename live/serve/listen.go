package serve

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"

	"github.com/oxgang/oxgang/live/control"
)

func (c *controller) listen() (unix, loopback, commands net.Listener, err error) {
	keep := func(l net.Listener, err error) (net.Listener, error) {
		if err == nil {
			c.closers = append(c.closers, closeTwice{l})
		}
		return l, err
	}
	users, jobs := c.access()
	if commands, err = keep(control.Listen(filepath.Join(c.o.Dir, controlSocket), users)); err != nil {
		return nil, nil, nil, err
	}
	if unix, err = keep(control.Listen(filepath.Join(c.o.Dir, agentSocket), jobs)); err != nil {
		return nil, nil, nil, err
	}
	loopback, err = keep(net.Listen("tcp", c.o.Listen))
	if err != nil {
		return nil, nil, nil, fmt.Errorf("agent API: %w", err)
	}
	return unix, loopback, commands, nil
}

func (c *controller) listenMetrics() (net.Listener, error) {
	if c.o.Metrics == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", c.o.Metrics)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	c.closers = append(c.closers, closeTwice{l})
	c.say("metrics: http://%s/metrics", l.Addr())
	return l, nil
}

type closeTwice struct{ net.Listener }

func (l closeTwice) Close() error {
	if err := l.Listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
