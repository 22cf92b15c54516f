package simulate

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/history"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/whatif"
)

type replaying struct {
	journal, policy, format string
	actions, etas           bool
}

func isJournal(args []string) bool { return len(args) > 0 && filepath.Ext(args[0]) == ".oxj" }

var forJournals = []string{"policy", "output", "quiet", "actions", "etas"}

// replay judges a journal. It refuses flags without a meaning for one.
func (r *replaying) replay(cmd *cobra.Command, name string) error {
	var foreign error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if foreign == nil && !slices.Contains(forJournals, f.Name) {
			foreign = cli.Misused("--%s is not for journals: a journal has its own cluster and settings", f.Name)
		}
	})
	if foreign != nil {
		return foreign
	}
	if err := cli.CheckOutput(r.format, verdicts...); err != nil {
		return err
	}
	if r.policy = cmd.Flag("policy").Value.String(); !cmd.Flags().Changed("policy") {
		r.policy = ""
	} else if _, err := registry.Find(r.policy); err != nil {
		return cli.Usage(err)
	}
	r.journal = name
	return r.run(cmd.Context(), cmd.OutOrStdout())
}

var verdicts = []string{"table", "json", "yaml"}

func (r *replaying) run(ctx context.Context, stdout io.Writer) error {
	v, err := history.JudgeReplay(ctx, r.recording(ctx), r.policy, r.etas)
	if err != nil {
		return fmt.Errorf("%s: %w", r.journal, err)
	}
	if r.format == "table" {
		err = v.Table(stdout)
	} else {
		err = cli.Write(stdout, r.format, v)
	}
	if err == nil && v.First != "" {
		err = differs(v, r.journal)
	}
	return err
}

func differs(v *history.Verdict, file string) error {
	err := fmt.Errorf("%s: decisions differ from those recorded: %s", file, v.First)
	if v.ActionsDiffer() {
		return err
	}
	return cli.Hinted(err, "other versions may give other reasons; --actions compares only actions")
}

func (r *replaying) recording(ctx context.Context) history.Recording {
	return func(policy string, use func(*journal.Reader, whatif.Options) error) error {
		j, f, err := cli.OpenJournal(ctx, r.journal)
		if err != nil {
			return err
		}
		defer f.Close()
		h := j.Header()
		again, err := run.Again(&h, policy, cli.FilesUntil(ctx))
		if err != nil {
			return err
		}
		return use(j, whatif.Options{Fresh: again.Fresh, Scheduler: again.Scheduler, ActionsAlone: r.actions})
	}
}
