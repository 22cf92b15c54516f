package e2e

import (
	"math"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/fault"
)

// No pod is stopped because etcd or the API server does not answer, and plans go on when they
// do; nor by a compaction of what the watches have yet to see.
func TestFaults_of_the_control_plane(t *testing.T) {
	long(t, "after 20 s without etcd, or the API server, a new job runs within a second, and the pods of the old one are the same; so they are where a watch of pods was answered with 410")
	s := open(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: 3}}}, repairs)
	s.play(t, "etcd is away", func(c *scene) { c.isAway(rig.Etcd) })
	s.play(t, "the API server is away", func(c *scene) { c.isAway(rig.APIServer) })
	s.play(t, "what watches have yet to see is compacted", isCompacted)
	t.Run("fearful", func(t *testing.T) { s.catch(t, "fearful", stopsWhatItCannotSee) })
}

// isAway: what runs goes on without a program of the control plane, and what comes is planned when
// it is back.
func (c *scene) isAway(name string) {
	c.submit("one", 1, 8)
	c.runs("one", 1)
	before := c.pods("one")
	c.halt(name, 20*time.Second)
	back := time.Now()
	c.until("the API server takes a job", func() error { return c.k.Create(c.Context(), Job("two", c.queue, 1, 8, nil)) })
	took := time.Since(back)
	c.Logf("20 s without %s: the API server takes a job %v after that, and it runs %v later", name, took.Round(10*time.Millisecond), c.runs("two", 1).Round(10*time.Millisecond))
	c.same(before)
}

// stopsWhatItCannotSee: the pods of a job whose node it takes for lost, for want of an answer, are
// stopped.
func stopsWhatItCannotSee(c *scene) {
	c.submit("one", 3, 8)
	c.runs("one", 3)
	before := c.pods("one")
	c.until("it has nothing to write", func() error { // else it waits for an answer, and looks at nothing
		if n := c.quiet(c.revision(), time.Second); n > 0 {
			return errNot("%d writes in a second", n)
		}
		return nil
	})
	c.halt(rig.APIServer, 5*time.Second)
	c.until("its pods are others", func() error {
		if after := c.pods("one"); slices.Equal(after, before) {
			return errNot("%q", after)
		}
		return nil
	})
}

// halt stops a program of the control plane for a time.
func (c *scene) halt(name string, d time.Duration) {
	c.Helper()
	p := c.Process(name)
	if err := p.Stop(); err != nil {
		c.Fatal(err)
	}
	time.Sleep(d) // the fault is that long
	if err := p.Cont(); err != nil {
		c.Fatal(err)
	}
}

// isCompacted: watches that are answered with 410 begin anew, and nobody's pods are stopped. The
// scheduler's watch of pods breaks, and while it may not begin again there are changes that nobody
// will tell it of.
func isCompacted(c *scene) {
	c.submit("one", 1, 8)
	c.submit("two", 1, 8)
	c.runs("one", 1)
	c.runs("two", 1)
	before := c.pods("one")
	defer c.proxy.Rules.Calm()
	c.proxy.Rules.Answer(&fault.Match{Verb: "watch", Resource: "pods"}, math.MaxInt, http.StatusTooManyRequests, 0) // after others it would be made anew by a list
	c.restart(rig.APIServer)
	c.delete(c.job("two"))
	c.submit("three", 2, 8)
	c.until("the pods of two are gone", func() error {
		if left := c.pods("two"); len(left) > 0 {
			return errNot("%q", left)
		}
		return nil
	})
	c.compact()
	var expired atomic.Int64
	c.proxy.Rules.Calm()
	c.proxy.Rules.Drop("pods", 1, func(e fault.Event) bool { // drops none, and counts
		if e.Type == "ERROR" {
			expired.Add(1)
		}
		return false
	})
	c.runs("three", 2)
	c.same(before)
	if expired.Load() == 0 {
		c.Error("no watch of pods was answered with an error: this shows nothing")
	}
}

// compact makes etcd forget all versions but the last, and the API server with it.
func (c *scene) compact() {
	c.Helper()
	if _, err := c.Etcd(c).Compact(c.Context(), c.revision()); err != nil {
		c.Fatal(err)
	}
	c.restart(rig.APIServer)
}

// restart ends a program of the control plane and starts it again, and waits until the API server
// answers.
func (c *scene) restart(name string) {
	c.Helper()
	if err := c.Process(name).Restart(); err != nil {
		c.Fatal(err)
	}
	c.until("the API server answers", func() error {
		_, err := c.Client().Discovery().ServerVersion()
		return err
	})
}
