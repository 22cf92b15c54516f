package agentapi

import (
	"context"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A limitListener accepts a limited number of connections. When it is full, a new connection replaces the one that
// has been quiet longest, or waits. A connection is quiet without a request that has a complete header, and after
// a refused request.
type limitListener struct {
	net.Listener
	most      int // open connections
	strangers *bucket

	mu      sync.Mutex
	changed sync.Cond
	open    int
	quiet   []*limitedConn
	shut    bool
}

func newLimitListener(l net.Listener, o *Options) *limitListener {
	d := &limitListener{Listener: l, most: o.Connections, strangers: newBucket(o.Strangers, int(math.Ceil(o.Strangers)))}
	d.changed.L = &d.mu
	return d
}

func (d *limitListener) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.open >= d.most && !d.shut {
		if len(d.quiet) == 0 {
			d.changed.Wait()
			continue
		}
		longest := d.quiet[0]
		d.closed(longest)
		_ = longest.Conn.Close()
	}
	if d.shut {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	d.open++
	return &limitedConn{Conn: c, listener: d}, nil
}

func (d *limitListener) Close() error {
	d.mu.Lock()
	d.shut = true
	d.changed.Broadcast()
	d.mu.Unlock()
	return d.Listener.Close()
}

func (d *limitListener) closed(v *limitedConn) {
	if v.gone {
		return
	}
	v.gone = true
	d.open--
	d.setBusy(v)
	d.changed.Broadcast()
}

func (d *limitListener) setBusy(v *limitedConn) {
	if i := slices.Index(d.quiet, v); i >= 0 {
		d.quiet = slices.Delete(d.quiet, i, i+1)
	}
}

func (d *limitListener) setQuiet(v *limitedConn) {
	d.setBusy(v)
	if !v.gone {
		d.quiet = append(d.quiet, v)
		d.changed.Broadcast()
	}
}

type limitedConn struct {
	net.Conn
	listener *limitListener
	gone     bool // guarded by listener.mu
}

func (v *limitedConn) Close() error {
	v.listener.mu.Lock()
	v.listener.closed(v)
	v.listener.mu.Unlock()
	return v.Conn.Close()
}

func noteState(c net.Conn, state http.ConnState) {
	v, ok := c.(*limitedConn)
	if !ok {
		return
	}
	d := v.listener
	d.mu.Lock()
	defer d.mu.Unlock()
	if state == http.StateNew || state == http.StateIdle {
		d.setQuiet(v)
		return
	}
	d.setBusy(v)
}

type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c.(*limitedConn))
}

// Source returns the remote address, without port, of the HTTP request behind a call of a method of Jobs, or "" for
// unix sockets. ctx is the context of that call.
func Source(ctx context.Context) string {
	v, ok := ctx.Value(connKey{}).(*limitedConn)
	if !ok {
		return ""
	}
	host, _, err := net.SplitHostPort(v.RemoteAddr().String())
	if err != nil {
		return ""
	}
	return host
}

func listenerOf(r *http.Request) *limitListener { return visitorOf(r).listener }

func visitorOf(r *http.Request) *limitedConn { return r.Context().Value(connKey{}).(*limitedConn) }

func giveUp(r *http.Request) {
	v, ok := r.Context().Value(connKey{}).(*limitedConn)
	if !ok {
		return
	}
	v.listener.mu.Lock()
	defer v.listener.mu.Unlock()
	v.listener.setQuiet(v)
}

// A bucket limits requests: up to size tokens, refilled at rate per second.
type bucket struct {
	rate, size float64

	mu   sync.Mutex
	left float64
	last time.Time
}

func newBucket(perSecond float64, size int) *bucket {
	return &bucket{rate: perSecond, size: float64(size), left: float64(size)}
}

func (b *bucket) take(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if since := now.Sub(b.last); since > 0 {
		if !b.last.IsZero() {
			b.left = min(b.size, b.left+since.Seconds()*b.rate)
		}
		b.last = now
	}
	if b.left >= 1 {
		b.left--
		return 0
	}
	return time.Duration((1 - b.left) / b.rate * float64(time.Second))
}
