package control

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

const mostQuiet = 64

type quietList struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (q *quietList) note(c net.Conn, state http.ConnState) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.conns = slices.DeleteFunc(q.conns, func(o net.Conn) bool { return o == c })
	if state != http.StateNew && state != http.StateIdle {
		return
	}
	q.conns = append(q.conns, c)
	if len(q.conns) > mostQuiet {
		_ = q.conns[0].Close()
		q.conns = q.conns[1:]
	}
}
