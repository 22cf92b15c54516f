package agentapi

import (
	"context"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
)

// A door is a listener that lets in a limited number of connections. While it is full, a
// new connection takes the place of the one that has been quiet for longest, or waits for
// one to become quiet. Quiet is a connection on which no request's header is complete: one
// that is idle, new, or slow on purpose; and one whose request was refused, of
// which net/http awaits what was not read. So those keep nobody out.
type door struct {
	net.Listener
	most      int     // connections open at a time
	strangers *bucket // of requests without a known token

	mu      sync.Mutex
	changed sync.Cond // a connection became quiet or was closed, or the door was
	open    int
	quiet   []*visitor // longest first
	shut    bool
}

// newDoor returns the door before a listener.
func newDoor(l net.Listener, o *Options) *door {
	d := &door{Listener: l, most: o.Connections, strangers: newBucket(o.Strangers, int(math.Ceil(o.Strangers)))}
	d.changed.L = &d.mu
	return d
}

// Accept implements net.Listener.
func (d *door) Accept() (net.Conn, error) {
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
		d.left(longest)
		_ = longest.Conn.Close() // it is given up
	}
	if d.shut {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	d.open++
	return &visitor{Conn: c, door: d}, nil
}

// Close implements net.Listener.
func (d *door) Close() error {
	d.mu.Lock()
	d.shut = true
	d.changed.Broadcast()
	d.mu.Unlock()
	return d.Listener.Close()
}

// left notes that a connection is closed. It needs d.mu.
func (d *door) left(v *visitor) {
	if v.gone {
		return
	}
	v.gone = true
	d.open--
	d.awake(v)
	d.changed.Broadcast()
}

// awake notes that a connection is not quiet. It needs d.mu.
func (d *door) awake(v *visitor) {
	if i := slices.Index(d.quiet, v); i >= 0 {
		d.quiet = slices.Delete(d.quiet, i, i+1)
	}
}

// hush notes that a connection is quiet. It needs d.mu.
func (d *door) hush(v *visitor) {
	d.awake(v)
	if !v.gone {
		d.quiet = append(d.quiet, v)
		d.changed.Broadcast()
	}
}

// A visitor is a connection that came through a door.
type visitor struct {
	net.Conn
	door *door
	gone bool // under door.mu
}

// Close implements net.Conn.
func (v *visitor) Close() error {
	v.door.mu.Lock()
	v.door.left(v)
	v.door.mu.Unlock()
	return v.Conn.Close()
}

// noteState is an http.Server's ConnState: it keeps the list of quiet connections. A
// connection becomes active when the header of a request was read.
func noteState(c net.Conn, state http.ConnState) {
	v, ok := c.(*visitor)
	if !ok {
		return
	}
	d := v.door
	d.mu.Lock()
	defer d.mu.Unlock()
	if state == http.StateNew || state == http.StateIdle {
		d.hush(v)
		return
	}
	d.awake(v)
}

// visitorKey is the key of a request's connection in its context.
type visitorKey struct{}

// withVisitor is an http.Server's ConnContext.
func withVisitor(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, visitorKey{}, c.(*visitor))
}

// Source returns the address, without port, from which the request of a context came that
// Jobs was called with; "" where there is none, as of a unix socket.
func Source(ctx context.Context) string {
	v, ok := ctx.Value(visitorKey{}).(*visitor)
	if !ok {
		return ""
	}
	host, _, err := net.SplitHostPort(v.RemoteAddr().String())
	if err != nil {
		return "" // no address of a network
	}
	return host
}

// doorOf returns the door through which a request came.
func doorOf(r *http.Request) *door { return visitorOf(r).door }

func visitorOf(r *http.Request) *visitor { return r.Context().Value(visitorKey{}).(*visitor) }

// giveUp says that of a request nothing more will be read: its connection is quiet.
func giveUp(r *http.Request) {
	v := visitorOf(r)
	v.door.mu.Lock()
	defer v.door.mu.Unlock()
	v.door.hush(v)
}
