package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/live/page"
)

const look = time.Second

// ServePage serves the live page of source on this machine only, and prints its address. It returns when the command is
// interrupted. If cancels is true, viewers may cancel jobs.
func ServePage(cmd *cobra.Command, source page.Source, listen string, cancels bool) error {
	host, _, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return Usage(fmt.Errorf("--listen %q, want an address on loopback with a port, such as 127.0.0.1:8080, because the page is not encrypted", listen))
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	s := page.New(source, l.Addr())
	if a, ok := source.(page.Actor); ok && cancels {
		s.Act(a)
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 5 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	if source.Live() {
		go s.Watch(ctx, look)
	}
	fmt.Fprintln(cmd.OutOrStdout(), s.URL())
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}
