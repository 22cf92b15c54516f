package cli

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/live/gpuuse"
	"github.com/oxgang/oxgang/live/page"
)

const measured = 30 * time.Second // between reads of the use of GPUs

// ServePage serves the live page of source on this machine only, and prints its address. It returns when the command is
// interrupted. If cancels is true, viewers may cancel jobs.
func ServePage(cmd *cobra.Command, source page.Source, listen string, cancels bool) error {
	host, _, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return Usage(fmt.Errorf("--listen %q, want an address on loopback with a port, such as 127.0.0.1:8080, because the page is not encrypted", listen))
	}
	s, err := page.Listen(source, listen)
	if err != nil {
		return err
	}
	if a, ok := source.(page.Actor); ok && cancels {
		s.Act(a)
	}
	fmt.Fprintln(cmd.OutOrStdout(), s.URL())
	return s.Serve(cmd.Context())
}

// A Measured is the flag with the addresses from which a live page reads the use of GPUs.
type Measured struct{ addresses []string }

// Add adds the flag.
func (m *Measured) Add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&m.addresses, "gpu-metrics", nil, "show the use of GPUs: http://HOST:9090 of Prometheus, or http://HOST:9400/metrics of a DCGM exporter; may be repeated")
}

// Any reports whether the flag is set.
func (m *Measured) Any() bool { return len(m.addresses) > 0 }

// Meter returns a Meter that reads the addresses until ctx is done; nil without addresses.
func (m *Measured) Meter(ctx context.Context) (*gpuuse.Meter, error) {
	if !m.Any() {
		return nil, nil
	}
	read, err := gpuuse.Remote(m.addresses)
	if err != nil {
		return nil, Usage(fmt.Errorf("--gpu-metrics: %w", err))
	}
	meter := gpuuse.NewMeter(read, measured)
	go meter.Follow(ctx, func() {})
	return meter, nil
}
