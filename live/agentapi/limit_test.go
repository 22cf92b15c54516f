package agentapi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxgang/oxgang/job"
)

func TestBucket(t *testing.T) {
	b := newBucket(2, 3)
	now := time.Unix(1000, 0)
	for i, step := range []struct {
		after, want time.Duration
	}{
		{0, 0}, {0, 0}, {0, 0}, // as many as it holds
		{0, 500 * time.Millisecond},
		{250 * time.Millisecond, 250 * time.Millisecond},
		{250 * time.Millisecond, 0},
		{-time.Hour, 500 * time.Millisecond}, // a clock that goes back gives nothing
		{time.Hour + 500*time.Millisecond, 0},
		{time.Hour, 0}, {0, 0}, {0, 0}, {0, 500 * time.Millisecond}, // no more than it holds
	} {
		now = now.Add(step.after)
		if got := b.take(now); got != step.want {
			t.Errorf("step %d: wait %v, want %v", i, got, step.want)
		}
	}
}

// tally counts the answers to n requests, sent by so many clients at once. Errors count as
// status 0.
func tally(n, clients int, send func(i int) (reply, error)) map[int]int {
	var next atomic.Int64
	var mu sync.Mutex
	counts := make(map[int]int)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				got, _ := send(i)
				mu.Lock()
				counts[got.status]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return counts
}

// A job that floods the server with reports is slowed down, and nobody else is.
func TestServer_with_a_hostile_job(t *testing.T) {
	w := newWorld("hostile", "honest")
	_, path := serve(t, w, Options{})
	bad, good := client(t, path), client(t, path)
	begun := time.Now()
	flooded := make(chan map[int]int)
	go func() {
		flooded <- tally(10_000, 16, func(i int) (reply, error) {
			return try(bad, "key-hostile", "/v1/report", reported(t, int64(i), 1200, 151000.5))
		})
	}()
	for i := range 20 { // its burst
		if got := post(t, good, "key-honest", "/v1/report", reported(t, int64(i+1), 1200, 151000.5)); got.status != http.StatusOK {
			t.Errorf("honest report %d: %d %s, want 200", i+1, got.status, got.body)
		}
	}
	counts := <-flooded
	took := time.Since(begun)
	t.Logf("hostile: %d accepted, %d refused of 10000 in %v; honest: %d accepted of 20", counts[200], counts[429], took, len(w.seen("honest")))
	if most := 21 + int(10*took.Seconds()); counts[200] > most || counts[200] < 1 || counts[200]+counts[429] != 10_000 {
		t.Errorf("hostile: %v, want 1 to %d answers of 200, all others 429", counts, most)
	}
	if n := len(w.seen("honest")); n != 20 {
		t.Errorf("honest: %d reports came through, want 20", n)
	}
	got := post(t, bad, "key-hostile", "/v1/report", reported(t, 1, 1200, 151000.5))
	for ; got.status == 200; got = post(t, bad, "key-hostile", "/v1/report", reported(t, 1, 1200, 151000.5)) {
	}
	if after, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || after < 1 || got.body != `{"error":"more than 10 requests per second"}` {
		t.Errorf("got %d %s and Retry-After %q, want when to ask again", got.status, got.body, got.header.Get("Retry-After"))
	}
}

// A flood without a known token is refused, connection by connection, and keeps nobody out.
func TestServer_with_a_flood_of_strangers(t *testing.T) {
	w := newWorld("honest")
	_, path := serve(t, w, Options{})
	bad, good := client(t, path), client(t, path)
	begun := time.Now()
	flooded := make(chan map[int]int)
	go func() {
		flooded <- tally(2_000, 16, func(int) (reply, error) { return try(bad, "guess", "/v1/report", "{}") })
	}()
	for i := range 20 {
		if got := post(t, good, "key-honest", "/v1/report", reported(t, int64(i+1), 1200, 151000.5)); got.status != http.StatusOK {
			t.Errorf("honest report %d: %d %s, want 200", i+1, got.status, got.body)
		}
	}
	counts := <-flooded
	took := time.Since(begun)
	t.Logf("strangers: %d answers of 401, %d of 429 in %v; honest: %d accepted of 20", counts[401], counts[429], took, len(w.seen("honest")))
	if most := 11 + int(10*took.Seconds()); counts[401] > most || counts[401] < 10 || counts[429] < 1 || counts[200] > 0 {
		t.Errorf("strangers: %v, want 10 to %d answers of 401, others 429", counts, most)
	}
	if got, err := try(bad, "guess", "/v1/report", "{}"); err != nil || got.header.Get("Connection") != "close" {
		t.Errorf("a stranger's connection stays open: %v, %v", got, err)
	}
}

// A job whose messages take long has no more than four of them in the server, and the
// messages of others are taken in meanwhile.
func TestServer_with_slow_messages(t *testing.T) {
	w := newWorld("slow", "other")
	began, free := make(chan struct{}), make(chan struct{})
	w.hook = func(id job.ID) error {
		if id == "slow" {
			began <- struct{}{}
			<-free
		}
		return nil
	}
	s, path := serve(t, w, Options{})
	c := client(t, path)
	ended := make(chan map[int]int)
	go func() {
		ended <- tally(5, 5, func(i int) (reply, error) {
			got, err := try(c, "key-slow", "/v1/hello", golden(t, "hello"))
			if got.status == http.StatusTooManyRequests { // the fifth: now let the others go on
				close(free)
			}
			return got, err
		})
	}()
	<-began // one at a time
	if got := post(t, c, "key-other", "/v1/hello", golden(t, "hello")); got.status != http.StatusOK {
		t.Errorf("other: %d %s, want 200", got.status, got.body)
	}
	for range 3 {
		<-began
	}
	if counts := <-ended; counts[200] != 4 || counts[429] != 1 {
		t.Errorf("got %v, want 4 taken in and 1 to ask again", counts)
	}
	if n := s.account("slow").inside.Load(); n != 0 {
		t.Errorf("%d requests are counted as inside after the last", n)
	}
}

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
	s, path := serve(t, newWorld("j1"), Options{ReadTime: 50 * time.Millisecond})
	for name, tc := range map[string]struct {
		sends  string
		status int // 0: the connection is closed without an answer
	}{
		"nothing":            {"", 0},
		"half a first line":  {"POST /v1/rep", 0},
		"half a header":      {heading, 0},
		"no body":            {heading + "Content-Length: 100\r\n\r\n", 408},
		"half a body":        {heading + "Content-Length: 100\r\n\r\n{\"generation\":3,", 408},
		"chunks without end": {heading + "Transfer-Encoding: chunked\r\n\r\n5\r\n     \r\n1\r\n", 408},
		"a claim of much":    {heading + "Content-Length: 9000000000000\r\n\r\n{", 408},
		"a large header":     {heading + "X: " + strings.Repeat("x", 1<<20), 431},
	} {
		c := dial(t, path)
		go func() { _, _ = io.WriteString(c, tc.sends) }() // the server may not read it all
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
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
	_, path := serve(t, newWorld("j1"), Options{})
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
	_, path := serve(t, newWorld("j1"), Options{Connections: 4, Burst: 1000})
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
		if n, err := c.Read(make([]byte, 1)); n > 0 || errors.Is(err, net.ErrClosed) || err == nil {
			t.Errorf("slow connection %d: read %d bytes, %v, want it closed by the server", i, n, err)
		}
	}
}

// While all connections are at work, new ones wait; closing the door ends that.
func TestDoor_waits(t *testing.T) {
	w := newWorld("j1", "j2")
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
	waiting := dial(t, path) // waits until the door is shut
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
