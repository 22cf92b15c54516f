package control

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// mostQuiet is how many connections may be open on which no request is under way.
const mostQuiet = 64

// A quietList has the connections of a server on which no request is under way: they are new, idle,
// or slow to say what they want. Those beyond mostQuiet are closed, the one that has been quiet for
// longest first: so they cannot use up the files that the process may have open.
type quietList struct {
	mu    sync.Mutex
	conns []net.Conn // longest first
}

// note is an http.Server's ConnState.
func (q *quietList) note(c net.Conn, state http.ConnState) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.conns = slices.DeleteFunc(q.conns, func(o net.Conn) bool { return o == c })
	if state != http.StateNew && state != http.StateIdle {
		return
	}
	q.conns = append(q.conns, c)
	if len(q.conns) > mostQuiet {
		_ = q.conns[0].Close() // it is given up
		q.conns = q.conns[1:]
	}
}
