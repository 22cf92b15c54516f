package agentapi

import (
	"regexp"
	"strconv"
	"strings"
)

// A message is a body from outside. Check returns an ErrInvalid with all errors.
type message interface{ Check() error }

// Check implements message.
func (h *Hello) Check() error {
	var b boundary
	b.whole("version", int64(h.Version), versions)
	b.whole("generation", int64(h.Generation), ordinals)
	b.whole("world_size", int64(h.WorldSize), workers)
	if !printable(h.Client) {
		b.bad("client %s, want 1 to 100 printable ASCII characters", quote(h.Client))
	}
	h.Batch.check(&b)
	for i, r := range h.Schedule {
		name := "schedule: regime " + strconv.Itoa(i+1) + ": "
		b.whole(name+"batch_size", int64(r.BatchSize), batches)
		b.whole(name+"epochs", int64(r.Epochs), lengths)
	}
	b.whole("epochs", int64(h.Epochs), epochs)
	b.float("samples", &h.Samples, samples)
	if r := h.Restored; r != nil {
		b.whole("restored: step", r.Step, counts)
		b.float("restored: progress", &r.Progress, samples)
		b.checksum("restored: checksum", r.Checksum)
	}
	b.float("restore_seconds", &h.RestoreSeconds, seconds)
	return b.err()
}

func (l *BatchLimits) check(b *boundary) {
	b.whole("batch: init", int64(l.Init), batches)
	b.whole("batch: max", int64(l.Max), batches)
	b.whole("batch: local_min", int64(l.LocalMin), limits)
	b.whole("batch: local_max", int64(l.LocalMax), limits)
	if l.Max < l.Init {
		b.bad("batch: max %d, want at least init, %d", l.Max, l.Init)
	}
	if l.LocalMin > l.Max {
		b.bad("batch: local_min %d, want at most max, %d", l.LocalMin, l.Max)
	}
	if l.LocalMax != 0 && l.LocalMax < l.LocalMin {
		b.bad("batch: local_max %d, want at least local_min, %d, or 0", l.LocalMax, l.LocalMin)
	}
}

// Check implements message.
func (r *Report) Check() error {
	var b boundary
	b.whole("generation", int64(r.Generation), ordinals)
	b.whole("sequence", r.Sequence, ordinals)
	b.whole("step", r.Step, counts)
	b.float("progress", &r.Progress, samples)
	b.whole("epoch", int64(r.Epoch), epochs)
	b.float("interval", &r.Interval, seconds)
	r.Batch.check(&b)
	b.float("step_time", &r.StepTime, seconds)
	b.float("sync_time", &r.SyncTime, seconds)
	if r.SyncTime > r.StepTime {
		b.bad("sync_time %v, want at most step_time, %v", r.SyncTime, r.StepTime)
	}
	b.float("wait_time", &r.WaitTime, seconds)
	b.float("grad_sqr", &r.GradSqr, gradients)
	b.float("grad_var", &r.GradVar, gradients)
	return b.err()
}

func (c *Batch) check(b *boundary) {
	b.whole("batch: local", int64(c.Local), batches)
	b.whole("batch: accumulation", int64(c.Accumulation), passes)
	if perWorker := float64(c.Local) * (float64(c.Accumulation) + 1); len(b.complaints) == 0 && perWorker > batches.most {
		b.bad("batch: %d samples in %d passes, want at most %.0f in all", c.Local, c.Accumulation+1, batches.most)
	}
}

// Check implements message.
func (c *Checkpoint) Check() error {
	var b boundary
	b.whole("generation", int64(c.Generation), ordinals)
	b.whole("step", c.Step, counts)
	b.float("progress", &c.Progress, samples)
	b.whole("epoch", int64(c.Epoch), epochs)
	b.whole("bytes", c.Bytes, counts)
	b.float("seconds", &c.Seconds, seconds)
	if len(c.Path) > maxFileName || !fileName.MatchString(c.Path) {
		b.bad("path %s, want a name of letters, digits and . _ - without a leading dot, at most 255 bytes", quote(c.Path))
	}
	b.checksum("checksum", c.Checksum)
	return b.err()
}

const maxFileName = 255

var (
	fileName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*$`)
	sha256   = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

func (b *boundary) checksum(name, sum string) {
	if !sha256.MatchString(sum) {
		b.bad("%s %s, want sha256: and 64 lower-case hexadecimal digits", name, quote(sum))
	}
}

func printable(s string) bool {
	return s != "" && len(s) <= 100 && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

func quote(s string) string {
	if short := shorten(s); short != s {
		return strconv.Quote(s[:shown]) + "..."
	}
	return strconv.Quote(s)
}

const shown = 40

func shorten(s string) string {
	if len(s) <= shown {
		return s
	}
	return s[:shown] + "..."
}
