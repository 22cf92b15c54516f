package agentapi

import (
	"context"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
)

// A limitListener is a listener that accepts a limited number of connections. While it is
// full, a new connection replaces the one that has been quiet for longest, or waits until one
// becomes quiet. A connection is quiet in two cases: no request on it has a complete header,
// because it is idle, new or slow on purpose; or its request was refused, and net/http reads the
// rest of it. So quiet connections cannot keep others out.
type limitListener struct {
	net.Listener
	most      int     // connections open at a time
	strangers *bucket // of requests without a known token

	mu      sync.Mutex
	changed sync.Cond // a connection became quiet or was closed, or the listener was
	open    int
	quiet   []*limitedConn // longest first
	shut    bool
}

// newLimitListener returns a limitListener on a listener.
func newLimitListener(l net.Listener, o *Options) *limitListener {
	d := &limitListener{Listener: l, most: o.Connections, strangers: newBucket(o.Strangers, int(math.Ceil(o.Strangers)))}
	d.changed.L = &d.mu
	return d
}

// Accept implements net.Listener.
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
		_ = longest.Conn.Close() // it is given up
	}
	if d.shut {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	d.open++
	return &limitedConn{Conn: c, listener: d}, nil
}

// Close implements net.Listener.
func (d *limitListener) Close() error {
	d.mu.Lock()
	d.shut = true
	d.changed.Broadcast()
	d.mu.Unlock()
	return d.Listener.Close()
}

// closed notes that a connection is closed. It needs d.mu.
func (d *limitListener) closed(v *limitedConn) {
	if v.gone {
		return
	}
	v.gone = true
	d.open--
	d.setBusy(v)
	d.changed.Broadcast()
}

// setBusy notes that a connection is not quiet. It needs d.mu.
func (d *limitListener) setBusy(v *limitedConn) {
	if i := slices.Index(d.quiet, v); i >= 0 {
		d.quiet = slices.Delete(d.quiet, i, i+1)
	}
}

// setQuiet notes that a connection is quiet. It needs d.mu.
func (d *limitListener) setQuiet(v *limitedConn) {
	d.setBusy(v)
	if !v.gone {
		d.quiet = append(d.quiet, v)
		d.changed.Broadcast()
	}
}

// A limitedConn is a connection that a limitListener accepted.
type limitedConn struct {
	net.Conn
	listener *limitListener
	gone     bool // under listener.mu
}

// Close implements net.Conn.
func (v *limitedConn) Close() error {
	v.listener.mu.Lock()
	v.listener.closed(v)
	v.listener.mu.Unlock()
	return v.Conn.Close()
}

// noteState is an http.Server's ConnState: it keeps the list of quiet connections. A
// connection becomes active when the header of a request was read.
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

// connKey is the key of a request's connection in its context.
type connKey struct{}

// withConn is an http.Server's ConnContext.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c.(*limitedConn))
}

// Source returns the address, without port, from which the request of a context came that
// Jobs was called with; "" where there is none, as of a unix socket.
func Source(ctx context.Context) string {
	v, ok := ctx.Value(connKey{}).(*limitedConn)
	if !ok {
		return ""
	}
	host, _, err := net.SplitHostPort(v.RemoteAddr().String())
	if err != nil {
		return "" // no address of a network
	}
	return host
}

// listenerOf returns the listener that accepted the connection of a request.
func listenerOf(r *http.Request) *limitListener { return visitorOf(r).listener }

func visitorOf(r *http.Request) *limitedConn { return r.Context().Value(connKey{}).(*limitedConn) }

// giveUp notes that nothing more of a request will be read: its connection is quiet. A request that
// did not come through Serve has none.
func giveUp(r *http.Request) {
	v, ok := r.Context().Value(connKey{}).(*limitedConn)
	if !ok {
		return
	}
	v.listener.mu.Lock()
	defer v.listener.mu.Unlock()
	v.listener.setQuiet(v)
}
