package agentapi

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
)

// A street is a listener at which connections arrive that a test makes.
type street struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (s *street) Accept() (net.Conn, error) {
	select {
	case c := <-s.conns:
		return c, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

func (s *street) Close() error { close(s.closed); return nil }

func (s *street) Addr() net.Addr { return nil }

// knock makes a connection arrive and returns its other end once nothing more comes of it.
func (s *street) knock() net.Conn {
	near, far := net.Pipe()
	s.conns <- near
	synctest.Wait()
	return far
}

// A connection that closes while it is quiet gives its place to one other, not to two.
func TestDoor_closed_while_quiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &street{make(chan net.Conn), make(chan struct{})}
		d := newLimitListener(s, &Options{Connections: 2, Strangers: 1})
		in := make(chan *limitedConn, 9)
		go func() {
			for c, err := d.Accept(); err == nil; c, err = d.Accept() {
				in <- c.(*limitedConn)
			}
		}()
		s.knock()
		s.knock()
		a, b := <-in, <-in
		noteState(a, http.StateNew)
		noteState(b, http.StateNew)
		_ = a.Close()
		s.knock()
		if c := <-in; b.gone || c.gone || d.open != 2 {
			t.Errorf("gone: %v %v, %d open; want the third in the place of the first", b.gone, c.gone, d.open)
		}
		s.knock()
		if <-in; !b.gone || d.open != 2 {
			t.Errorf("gone: %v, %d open; want the fourth in the place of the second", b.gone, d.open)
		}
		_ = d.Close()
		synctest.Wait()
	})
}

// A full listener lets in one more for each that is closed or quiet, of these the one that has
// been quiet for longest first, and nobody else.
func TestDoor_full(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &street{make(chan net.Conn), make(chan struct{})}
		d := newLimitListener(s, &Options{Connections: 2, Strangers: 1})
		in := make(chan *limitedConn, 9)
		go func() {
			for c, err := d.Accept(); err == nil; c, err = d.Accept() {
				in <- c.(*limitedConn)
			}
			close(in)
		}()
		note := func(v *limitedConn, states ...http.ConnState) {
			for _, state := range states {
				noteState(v, state)
			}
			synctest.Wait()
		}
		expect := func(what string, n int) {
			t.Helper()
			if len(in) != n {
				t.Fatalf("%s: %d are let in, want %d", what, len(in), n)
			}
		}
		s.knock()
		second := s.knock()
		s.knock()
		expect("three come to a listener for two", 2)
		a, b := <-in, <-in
		note(b, http.StateNew)
		expect("one is quiet", 1)
		if _, err := second.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || a.gone {
			t.Errorf("the quiet one reads %v, the other gone: %v, want only the quiet one closed", err, a.gone)
		}
		c := <-in
		note(a, http.StateNew)
		note(c, http.StateIdle)
		note(a, http.StateActive, http.StateIdle) // c has been quiet for longer now
		s.knock()
		expect("two are quiet", 1)
		if !c.gone || a.gone {
			t.Errorf("longer quiet gone: %v, shorter: %v, want the first alone", c.gone, a.gone)
		}
		e := <-in
		note(a, http.StateActive)
		s.knock()
		expect("none is quiet", 0)
		_ = e.Close()
		synctest.Wait()
		expect("one is closed", 1)
		waiting := s.knock()
		expect("none is quiet again", 1)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if _, err := waiting.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("one who waits at a listener that is closed reads %v, want EOF", err)
		}
		synctest.Wait()
		<-in
		if _, open := <-in; open {
			t.Error("one was accepted by a closed listener")
		}
	})
}
