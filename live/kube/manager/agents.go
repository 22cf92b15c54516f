package manager

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/kube"
	"github.com/oxgang/oxgang/model/job"
)

type agents struct {
	l        *leader
	reviewer *kube.Reviewer
}

var _ agentapi.Jobs = (*agents)(nil)

func (l *leader) member(podUID string) (m kube.Member, ok bool) {
	for _, w := range l.backends() {
		if m, ok = w.Member(podUID); ok {
			return m, true
		}
	}
	return kube.Member{}, false
}

func (l *leader) backends() []*kube.Backend {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]*kube.Backend, 0, len(l.running))
	for _, r := range l.running {
		if r.backend != nil {
			all = append(all, r.backend)
		}
	}
	return all
}

func (a *agents) Job(ctx context.Context, token string) (job.ID, error) {
	id, err := a.reviewer.Job(ctx, agentapi.Source(ctx), token)
	switch {
	case errors.Is(err, kube.ErrUnknownToken):
		return "", fmt.Errorf("%w: %w", agentapi.ErrUnknown, err)
	case errors.Is(err, kube.ErrReviewLater):
		return "", fmt.Errorf("%w: %w", agentapi.ErrLater, err)
	}
	return id, err
}

func (a *agents) backend(id job.ID) (*kube.Backend, error) {
	for _, w := range a.l.backends() {
		if w.Has(id) {
			return w, nil
		}
	}
	return nil, agentapi.ErrUnknown
}

func (a *agents) Hello(ctx context.Context, id job.ID, h *agentapi.Hello) (*agentapi.Welcome, error) {
	w, err := a.backend(id)
	if err != nil {
		return nil, err
	}
	return w.Hello(ctx, id, h)
}

func (a *agents) Report(ctx context.Context, id job.ID, r *agentapi.Report) (*agentapi.Answer, error) {
	w, err := a.backend(id)
	if err != nil {
		return nil, err
	}
	return w.Report(ctx, id, r)
}

func (a *agents) Checkpoint(ctx context.Context, id job.ID, c *agentapi.Checkpoint) error {
	w, err := a.backend(id)
	if err != nil {
		return err
	}
	return w.Checkpoint(ctx, id, c)
}

func (l *leader) serveAgents(ctx context.Context) error {
	c := &l.o.Config.Agents
	if c.Address.Address == "" {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	get, err := l.certificate(ctx, g)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", c.Address.Address)
	if err != nil {
		return fmt.Errorf("agents: %w", err)
	}
	review := kube.TokenReviews(l.clients.AuthenticationV1().TokenReviews(), c.Audience)
	server := agentapi.New(&agents{l: l, reviewer: kube.NewReviewer(c.Audience, review, l.member)}, agentapi.Options{Log: l.log})
	g.Go(func() error { return server.Serve(tls.NewListener(listener, agentapi.TLSConfig(get))) })
	g.Go(func() error {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		return server.Shutdown(end)
	})
	return g.Wait()
}

type getCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error)

func (l *leader) certificate(ctx context.Context, g *errgroup.Group) (getCertificate, error) {
	if l.certs != nil {
		g.Go(func() error {
			l.certs.Run(ctx, func(err error) { l.log.Warn("the certificate was not renewed", "err", err) })
			return nil
		})
		return l.certs.GetCertificate, nil
	}
	dir := l.o.Config.Agents.Certificates
	f, err := newFiles(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		return nil, fmt.Errorf("agents: certificates: %w", err)
	}
	g.Go(func() error { return f.Start(ctx) })
	return f.GetCertificate, nil
}

func newFiles(cert, key string) (*certwatcher.CertWatcher, error) {
	w, err := certwatcher.New(cert, key)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", cert, key, err)
	}
	return w, nil
}
