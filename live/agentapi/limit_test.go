package agentapi

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

func TestBucket(t *testing.T) {
	b := newBucket(2, 3)
	now := time.Unix(1000, 0)
	for i, step := range []struct {
		after, want time.Duration
	}{
		{0, 0},
		{0, 0},
		{0, 0}, // as many as it holds
		{0, 500 * time.Millisecond},
		{250 * time.Millisecond, 250 * time.Millisecond},
		{250 * time.Millisecond, 0},
		{-time.Hour, 500 * time.Millisecond}, // a clock that goes back gives nothing
		{time.Hour + 500*time.Millisecond, 0},
		{time.Hour, 0},
		{0, 0},
		{0, 0},
		{0, 500 * time.Millisecond}, // no more than it holds
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
	w := newFakeJobs("hostile", "honest")
	_, path := serve(t, w, Options{})
	flood, c, good := client(t, path), client(t, path), golden(t, "report")
	begun := time.Now()
	flooded := make(chan map[int]int)
	go func() {
		flooded <- tally(10_000, 16, func(i int) (reply, error) {
			body := strings.Replace(good, `"sequence":17`, `"sequence":`+strconv.Itoa(i), 1)
			return try(flood, "key-hostile", "/v1/report", body)
		})
	}()
	for i := range 20 { // its burst
		if got := post(t, c, "key-honest", "/v1/report", reported(t, int64(i+1), 1200, 151000.5)); got.status != http.StatusOK {
			t.Errorf("honest report %d: %d %s, want 200", i+1, got.status, got.body)
		}
	}
	counts := <-flooded
	took := time.Since(begun)
	t.Logf("hostile: %d accepted, %d refused of 10000 in %v; honest: %d accepted of 20", counts[200], counts[429], took, len(w.seen("honest")))
	if err := limited(counts, 10_000, took); err != nil {
		t.Errorf("hostile: %v", err)
	}
	if n := len(w.seen("honest")); n != 20 {
		t.Errorf("honest: %d reports came through, want 20", n)
	}
	var got reply
	for got.status == 0 || got.status == http.StatusOK {
		got = post(t, c, "key-hostile", "/v1/report", reported(t, 1, 1200, 151000.5))
	}
	if after, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || after < 1 || got.body != `{"error":"more than 10 requests per second"}` {
		t.Errorf("got %d %s and Retry-After %q, want when to ask again", got.status, got.body, got.header.Get("Retry-After"))
	}
}

// limited returns an error if, of a job's requests within a time, more were taken in than the
// default limits allow, or others had another answer than to wait.
func limited(counts map[int]int, requests int, took time.Duration) error {
	if most := 21 + int(10*took.Seconds()); counts[200] > most || counts[200] < 1 || counts[200]+counts[429] != requests {
		return fmt.Errorf("%v, want 1 to %d answers of 200, all others 429", counts, most)
	}
	return nil
}

// The check above sees a server that limits nothing, one that takes nothing in, and one that breaks off.
func TestLimited_sees_bugs(t *testing.T) {
	_, path := serve(t, newFakeJobs("j1"), Options{Rate: 1e6, Burst: 1e6})
	c := client(t, path)
	counts := tally(200, 1, func(i int) (reply, error) {
		return try(c, "key-j1", "/v1/report", reported(t, int64(i), 1200, 151000.5))
	})
	if counts[200] != 200 || limited(counts, 200, time.Second) == nil {
		t.Errorf("%v of 200 within a second are found to be within the limits", counts)
	}
	if limited(map[int]int{429: 200}, 200, time.Second) == nil || limited(map[int]int{200: 20, 0: 180}, 200, time.Second) == nil {
		t.Error("a server that takes nothing in, or breaks off, is found to be within the limits")
	}
}

// A flood without a known token is refused, connection by connection, and keeps nobody out.
func TestServer_with_a_flood_of_strangers(t *testing.T) {
	w := newFakeJobs("honest")
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
	if got, err := try(bad, "guess", "/v1/report", "{}"); err != nil || !got.closed {
		t.Errorf("a stranger's connection stays open: %+v, %v", got, err)
	}
}

// A job whose messages take long has no more than four of them in the server, and the
// messages of others are taken in meanwhile.
func TestServer_with_slow_messages(t *testing.T) {
	w := newFakeJobs("slow", "other")
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
