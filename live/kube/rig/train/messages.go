package train

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/model/job"
)

const patience = 5 * time.Second

const (
	reportDefault = 10.0
	reportLeast   = 0.1
	reportMost    = 3600.0
)

const maxBatch = 1 << 30

type voice struct {
	client     *http.Client
	url, token string
	generation int
	speed      float64

	welcome  bool    // hello was answered
	every    float64 // real seconds between reports
	sequence int64
	covered  float64 // seconds trained since the last report
	notice   bool    // it was asked to stop
}

func (v *voice) post(ctx context.Context, path string, message, to any) error {
	if v.url == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	body, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, v.url+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	r.Header.Set("Authorization", "Bearer "+v.token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := v.client.Do(r)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", path, answer.Status, strings.TrimSpace(string(data)))
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%s: answer: %w", path, err)
	}
	return nil
}

func (v *voice) hello(ctx context.Context, t *training) error {
	h := agentapi.Hello{
		Version: agentapi.Version, Client: "rig/1", Generation: v.generation, WorldSize: t.replicas(),
		Batch: t.limits(), Samples: t.target, RestoreSeconds: t.app.RestartDelay.Seconds() / v.speed,
	}
	if t.app.Curve != nil {
		h.Epochs = len(t.app.Curve.Ends)
	}
	if t.saved > 0 {
		h.Restored = &agentapi.Restored{Step: int64(t.savedStep), Progress: t.saved, Checksum: checksum(t)}
	}
	var w agentapi.Welcome
	if err := v.post(ctx, "/v1/hello", &h, &w); err != nil {
		return err
	}
	v.welcome, v.every = true, reportDefault
	if w.ReportSeconds >= reportLeast && w.ReportSeconds <= reportMost {
		v.every = w.ReportSeconds
	}
	return follow(t, w.Batch)
}

func (t *training) limits() agentapi.BatchLimits {
	l := agentapi.BatchLimits{
		Init: max(1, t.app.Batch.Init), Max: max(1, t.app.Batch.Max), LocalMin: t.app.Batch.LocalMin,
		LocalMax: t.app.Batch.LocalMax[t.held.GPUType], Adaptive: t.adaptive,
	}
	if !t.adaptive {
		l.Init = max(1, t.total)
		l.Max = l.Init
	}
	return l
}

func follow(t *training, b agentapi.Batch) error {
	if b == (agentapi.Batch{}) {
		return nil
	}
	if b.Local < 1 || b.Local > maxBatch || b.Accumulation < 0 || b.Accumulation > maxBatch {
		return fmt.Errorf("batch %+v of an answer, want local from 1 and accumulation from 0, to %d", b, maxBatch)
	}
	t.cut(job.BatchSize{Local: b.Local, Accumulation: b.Accumulation})
	return nil
}

func (v *voice) report(ctx context.Context, t *training) error {
	epoch, _ := t.epoch()
	sqr, variance := t.app.Gradient(epoch, t.size())
	v.sequence++
	r := agentapi.Report{
		Generation: v.generation, Sequence: v.sequence, Step: int64(t.step), Progress: t.progress, Epoch: epoch,
		Interval: v.covered / v.speed, StepTime: t.pass / v.speed, SyncTime: t.exchange / v.speed,
		Batch:   agentapi.Batch{Local: t.batch.Local, Accumulation: t.batch.Accumulation},
		GradSqr: sqr, GradVar: variance,
	}
	var a agentapi.Answer
	err := v.post(ctx, "/v1/report", &r, &a)
	t.save()
	if err != nil {
		return err
	}
	v.covered = 0
	v.notice = v.notice || a.Notice != nil
	c := agentapi.Checkpoint{
		Generation: v.generation, Step: int64(t.step), Progress: t.progress, Epoch: epoch,
		Bytes: 1, Path: fmt.Sprintf("step-%d", int64(t.step)), Checksum: checksum(t),
	}
	if err := v.post(ctx, "/v1/checkpoint", &c, &agentapi.Empty{}); err != nil {
		return err
	}
	return follow(t, a.Batch)
}

func checksum(t *training) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256(fmt.Append(nil, t.saved)))
}
