package live

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/slurm"
)

type configFlags struct {
	file string
	now  slurm.Config
	cmd  *cobra.Command
}

func (c *configFlags) add(cmd *cobra.Command) {
	c.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&c.file, "config", "", "configuration file")
	f.StringVar(&c.now.Partition, "partition", "", "partition whose jobs may opt in")
	f.StringSliceVar(&c.now.Accounts, "account", nil, "account whose jobs may opt in; repeat for more (default: any)")
	f.StringVar(&c.now.Policy, "policy", "", `policy (see "oxgang policies"; default srtf)`)
}

func (c *configFlags) read() (*slurm.Config, error) {
	next := slurm.DefaultConfig()
	if c.file != "" {
		read, err := slurm.ReadConfig(c.file)
		if err != nil {
			return nil, err
		}
		next = *read
	}
	for name, set := range map[string]func(){
		"partition": func() { next.Partition = c.now.Partition },
		"account":   func() { next.Accounts = c.now.Accounts },
		"policy":    func() { next.Policy = c.now.Policy },
		"mode":      func() { next.Mode = c.now.Mode },
		"dry-run":   func() { next.Dry = c.now.Dry },
	} {
		if f := c.cmd.Flags().Lookup(name); f != nil && f.Changed {
			set()
		}
	}
	if next.Partition == "" {
		return nil, cli.Usage(cli.Hinted(errors.New("no partition"), "set it with --partition, or in the file of --config"))
	}
	if err := next.Validate(); err != nil {
		return nil, cli.Usage(err)
	}
	return &next, nil
}
