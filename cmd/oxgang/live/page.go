package live

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/live/serve"
)

// A PageSource connects the live page with the scheduler on this machine.
type PageSource struct{ state liveState }

// Add adds the flag for the state directory.
func (p *PageSource) Add(cmd *cobra.Command) { p.state.add(cmd) }

// Source connects to the scheduler, once it answers.
func (p *PageSource) Source(ctx context.Context) (page.Source, error) {
	dir, err := p.state.path()
	if err != nil {
		return nil, err
	}
	c, err := p.state.client()
	if err != nil {
		return nil, err
	}
	if _, err := c.Status(ctx, false); err != nil {
		return nil, p.state.hinted(err)
	}
	return page.NewMachine(c, serve.JournalFolder(dir)), nil
}
