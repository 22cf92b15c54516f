package agentapi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// dial returns a connection on which reads end in the end.
func dial(t *testing.T, path string) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

const heading = "POST /v1/report HTTP/1.1\r\nHost: agent\r\nAuthorization: Bearer key-j1\r\nContent-Type: application/json\r\n"

// Requests that do not end are cut off.
func TestServer_with_slow_requests(t *testing.T) {
	s, path := serve(t, newFakeJobs("j1"), Options{ReadTime: time.Second})
	requests := map[string]struct {
		sends  string
		status int // 0: the connection is closed without an answer
	}{
		"nothing":            {"", 0},
		"half a first line":  {"POST /v1/rep", 400},
		"half a header":      {heading, 0},
		"no body":            {heading + "Content-Length: 100\r\n\r\n", 408},
		"half a body":        {heading + "Content-Length: 100\r\n\r\n{\"generation\":3,", 408},
		"chunks without end": {heading + "Transfer-Encoding: chunked\r\n\r\n5\r\n     \r\n1\r\n", 408},
		"a claim of much":    {heading + "Content-Length: 9000000000000\r\n\r\n{", 408},
		"a large header":     {heading + "X: " + strings.Repeat("x", 1<<20), 431},
	}
	open := make(map[string]net.Conn)
	for name, tc := range requests {
		c := dial(t, path)
		go func() { _, _ = io.WriteString(c, tc.sends) }() // the server may not read it all
		open[name] = c
	}
	for name, tc := range requests {
		answer, err := http.ReadResponse(bufio.NewReader(open[name]), nil)
		switch {
		case tc.status == 0 && !errors.Is(err, io.ErrUnexpectedEOF):
			t.Errorf("%s: got %v, %v, want the connection closed", name, answer, err)
		case tc.status != 0 && err != nil:
			t.Errorf("%s: %v, want %d", name, err, tc.status)
		case tc.status != 0 && (answer.StatusCode != tc.status || !answer.Close):
			t.Errorf("%s: got %d, close %v, want %d and the connection closed", name, answer.StatusCode, answer.Close, tc.status)
		}
	}
	if q := s.Quarantined()["j1"]; q.Count != 4 {
		t.Errorf("%d messages in quarantine, want 4: %+v", q.Count, q)
	}
}

// A body that does not end but comes fast is cut off where it is too large.
func TestServer_with_endless_chunks(t *testing.T) {
	_, path := serve(t, newFakeJobs("j1"), Options{})
	c := dial(t, path)
	sent := make(chan int)
	go func() {
		_, err := io.WriteString(c, heading+"Transfer-Encoding: chunked\r\n\r\n")
		n := 0
		for ; err == nil; n++ {
			_, err = io.WriteString(c, "400\r\n"+strings.Repeat(" ", 1024)+"\r\n")
		}
		sent <- n
	}()
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || answer.StatusCode != http.StatusRequestEntityTooLarge || !answer.Close {
		t.Errorf("got %+v, %v, want 413 and the connection closed", answer, err)
	}
	c.Close()
	if n := <-sent; n < 64 {
		t.Errorf("cut off after %d KiB, want 64 to be read", n)
	}
}

// Connections that send nothing, or slowly, keep nobody out: the oldest makes room.
func TestServer_with_all_connections_taken(t *testing.T) {
	_, path := serve(t, newFakeJobs("j1"), Options{Connections: 4, Burst: 1000, ReadTime: time.Hour})
	slow := make([]net.Conn, 8)
	for i := range slow {
		slow[i] = dial(t, path)
		if _, err := io.WriteString(slow[i], heading); err != nil && i >= 4 {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		c := client(t, path)
		if got := post(t, c, "key-j1", "/v1/report", reported(t, int64(i+1), 1200, 151000.5)); got.status != http.StatusOK {
			t.Errorf("report %d: %d %s, want 200", i+1, got.status, got.body)
		}
	}
	for i, c := range slow { // all were closed long before their time
		if n, err := c.Read(make([]byte, 1)); n > 0 || errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) || err == nil {
			t.Errorf("slow connection %d: read %d bytes, %v, want it closed by the server", i, n, err)
		}
	}
}

// Nor do requests that are refused before their body is there, and it never comes.
func TestServer_with_bodies_owed(t *testing.T) {
	for name, tc := range map[string]struct{ old, with string }{
		"strangers":             {"key-j1", "guess"},
		"a job above its rate":  {"key-j1", "key-j1"},
		"a job with other text": {"key-j1\r\nContent-Type: application/json", "key-j3\r\nContent-Type: text/plain"},
	} {
		_, path := serve(t, newFakeJobs("j1", "j2", "j3"), Options{Connections: 4, Rate: 1e-6, Burst: 8, ReadTime: time.Hour})
		for range 8 { // its burst
			post(t, client(t, path), "key-j1", "/v1/report", golden(t, "report"))
		}
		for i := range 8 {
			request := strings.Replace(heading, tc.old, tc.with, 1) + "Content-Length: 100\r\n\r\n"
			if _, err := io.WriteString(dial(t, path), request); err != nil && i >= 4 {
				t.Fatal(err)
			}
		}
		if got := post(t, client(t, path), "key-j2", "/v1/report", golden(t, "report")); got.status != http.StatusOK {
			t.Errorf("%s: then a report: %d %s, want 200", name, got.status, got.body)
		}
	}
}

// While all connections are at work, new ones wait; closing the listener ends that.
func TestDoor_waits(t *testing.T) {
	w := newFakeJobs("j1", "j2")
	began, free := make(chan struct{}, 2), make(chan struct{})
	w.hook = func(job.ID) error { began <- struct{}{}; <-free; return nil }
	_, path := serve(t, w, Options{Connections: 1})
	answers := make(chan error, 2)
	ask := func(id string) {
		got, err := try(client(t, path), "key-"+id, "/v1/hello", golden(t, "hello"))
		if err == nil && got.status != http.StatusOK {
			err = fmt.Errorf("%s: %d %s", id, got.status, got.body)
		}
		answers <- err
	}
	go ask("j1")
	<-began
	go ask("j2") // waits until the first is quiet
	select {
	case <-began:
		t.Error("two connections are open at a time, want 1")
	case free <- struct{}{}:
	}
	<-began
	waiting := dial(t, path) // waits until the listener is closed
	if _, err := io.WriteString(waiting, heading); err != nil {
		t.Fatal(err)
	}
	close(free)
	for range 2 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
}
