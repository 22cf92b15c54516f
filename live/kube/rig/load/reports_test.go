package load

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/kube/manager"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
	"github.com/oxgang/oxgang/live/kube/rig/e2e"
)

// How much agents say: 250 connections are open at a time, and a job may speak ten times a
// second (agentapi.DefaultOptions).
const (
	speakers = 250
	pace     = 125 * time.Millisecond
	spoken   = 30 * time.Second
)

// speaks: 2,000 reports a second, each with a token of its pod, cost half a core.
func speaks(b *bench, _ *audit.Watcher, _ []*batchv1.Job) {
	list, err := b.api.CoreV1().Pods("default").List(b.Context(), metav1.ListOptions{FieldSelector: "status.phase=Running", Limit: speakers})
	b.ok(err)
	all := make([]*speaker, len(list.Items))
	b.each(len(all), func(ctx context.Context, i int) (err error) {
		all[i], err = b.speaker(ctx, &list.Items[i], i)
		return err
	})
	b.each(len(all), func(ctx context.Context, i int) error { return all[i].first(ctx) })
	before, began := b.spent(), time.Now()
	ctx, cancel := context.WithTimeout(b.Context(), spoken)
	defer cancel()
	var taken, refused atomic.Int64
	done := make(chan struct{})
	for _, s := range all {
		go func() { s.speak(ctx, &taken, &refused); done <- struct{}{} }()
	}
	for range all {
		<-done
	}
	used, took := b.spent().since(before)["oxgang-scheduler"], time.Since(began)
	rate := float64(taken.Load()) / took.Seconds()
	b.Logf("%d reports taken in %v, %.0f a second, %d refused: %.2f of a core, %.0f µs a report", taken.Load(), took.Round(time.Second),
		rate, refused.Load(), used.Seconds()/took.Seconds(), used.Seconds()*1e6/float64(taken.Load()))
	if each := used.Seconds() / float64(taken.Load()); each > 5*0.5/2000 {
		b.Errorf("a report costs %.0f µs, want at most 250, and here at most 1250", each*1e6)
	}
}

// A speaker is rank 0 of a job.
type speaker struct {
	client *http.Client
	url    string
	token  string
	report agentapi.Report
}

// speaker returns one that speaks for a pod, from an address of its own.
func (b *bench) speaker(ctx context.Context, p *corev1.Pod, i int) (*speaker, error) {
	token, err := e2e.Token(ctx, b.api)(p)
	if err != nil {
		return nil, err
	}
	ca, err := b.api.CoreV1().ConfigMaps(p.Namespace).Get(ctx, manager.TrustMap, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	for _, text := range ca.Data {
		roots.AppendCertsFromPEM([]byte(text))
	}
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i))}}
	t := &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: e2e.AgentName}, MaxIdleConnsPerHost: 1}
	return &speaker{
		client: &http.Client{Transport: t}, url: "https://" + b.agents + "/v1/report", token: token,
		report: agentapi.Report{Generation: 1, Interval: 30, StepTime: 0.21, SyncTime: 0.03},
	}, nil
}

// first sends a report until one is taken: whose tokens are is asked so often and no more.
func (s *speaker) first(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		status, answer, err := s.say(ctx)
		if err == nil && status == http.StatusOK {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("no report is taken: %d %s", status, answer), err)
		case <-time.After(time.Second):
		}
	}
}

// speak sends a report at each beat until ctx is done.
func (s *speaker) speak(ctx context.Context, taken, refused *atomic.Int64) {
	beat := time.NewTicker(pace)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
		}
		status, _, err := s.say(ctx)
		switch {
		case ctx.Err() != nil:
		case err == nil && status == http.StatusOK:
			taken.Add(1)
		default:
			refused.Add(1)
		}
	}
}

// say sends a report.
func (s *speaker) say(ctx context.Context) (status int, answer []byte, err error) {
	s.report.Sequence++
	s.report.Step += 100
	s.report.Progress += 100
	s.report.Batch = agentapi.Batch{Local: 32, Accumulation: 1}
	body, err := json.Marshal(&s.report)
	if err != nil {
		return 0, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", "application/json")
	a, err := s.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer a.Body.Close()
	answer, err = io.ReadAll(a.Body)
	return a.StatusCode, answer, err
}
