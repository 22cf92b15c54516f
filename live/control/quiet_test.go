package control_test

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// Connections that say nothing, or half of it, are closed where there are too many: the oldest
// first, and commands are answered all the while.
func TestHalf_open_connections(t *testing.T) {
	p := serve(t, nil)
	const most, more = 64, 100
	var conns []net.Conn
	for i := range most + more {
		c, err := net.Dial("unix", p.socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 {
			if _, err := c.Write([]byte("GET /v1/status HTTP/1.1\r\nHost:")); err != nil && i >= more {
				t.Fatal(err)
			}
		}
		conns = append(conns, c)
	}
	if _, err := p.Client.Status(t.Context(), false); err != nil {
		t.Errorf("a command beside half-open connections: %v", err)
	}
	for i, c := range conns[:more] {
		if err := c.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("connection %d of %d is still open: %v", i+1, len(conns), err)
		}
	}
}
