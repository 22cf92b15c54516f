package slurm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/live/agentapi"
)

func (c *Config) serves() bool { return c.Agents.Listen != "" && !c.Dry }

const (
	urlFile   = "url"
	trustFile = agentapi.CertificatesKey
)

type api struct {
	share    string
	url      string
	certs    *agentapi.Certificate
	listener net.Listener
	server   *agentapi.Server
	log      *slog.Logger
}

func newAPI(c *Config, jobs agentapi.Jobs, log *slog.Logger) (*api, error) {
	names, err := c.Agents.names()
	if err != nil {
		return nil, err
	}
	s, err := agentapi.NewCertificate(agentapi.CertificateOptions{Names: names})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", c.Agents.Listen)
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &api{
		share: c.Agents.Share, url: "https://" + net.JoinHostPort(names[0], port), certs: s, listener: l,
		server: agentapi.New(jobs, agentapi.Options{Log: log}), log: log,
	}, nil
}

func (a *Agents) names() ([]string, error) {
	if len(a.Names) > 0 {
		return a.Names, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("the machine's name: %w", err)
	}
	return []string{name}, nil
}

func (a *api) run(ctx context.Context) error {
	next, err := a.publish()
	if err != nil {
		return errors.Join(fmt.Errorf("agents: %w", err), a.listener.Close())
	}
	a.log.Info("the agent API is served", "url", a.url, "share", a.share)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return a.server.Serve(tls.NewListener(a.listener, agentapi.TLSConfig(a.certs.GetCertificate)))
	})
	g.Go(func() error {
		agentapi.KeepRenewed(ctx, next, a.publish, func(err error) { a.log.Warn("the certificate was not renewed", "err", err) })
		return nil
	})
	g.Go(func() error {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		return errors.Join(ctx.Err(), a.server.Shutdown(end))
	})
	return g.Wait()
}

func (a *api) publish() (time.Time, error) {
	next, err := a.certs.Renew()
	if err != nil {
		return time.Time{}, err
	}
	if err := own(a.share, 0o755); err != nil { // jobs of all users read it
		return time.Time{}, fmt.Errorf("share: %w", err)
	}
	was, err := os.ReadFile(filepath.Join(a.share, trustFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return time.Time{}, err
	}
	trusted := agentapi.Trust(string(a.certs.Trusted()), string(was), time.Now())
	return next, errors.Join(a.put(trustFile, trusted), a.put(urlFile, a.url+"\n"))
}

// put replaces a file. The URL comes last, so no client has one that it cannot verify.
func (a *api) put(name, text string) error {
	path := filepath.Join(a.share, name)
	if was, err := os.ReadFile(path); err == nil && string(was) == text {
		return nil
	}
	next := path + ".new"
	if err := os.WriteFile(next, []byte(text), 0o644); err != nil { //nolint:gosec // jobs of all users read it
		return err
	}
	if err := os.Chmod(next, 0o644); err != nil { // whatever the umask is
		return err
	}
	return os.Rename(next, path)
}
