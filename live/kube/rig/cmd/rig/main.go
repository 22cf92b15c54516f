// Command rig builds the rig's programs and prints their directory, or runs a cluster until it is interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/oxgang/oxgang/live/kube/rig"
)

const usage = "usage: rig build [planes|everything|oldest|baseline|ray|karpenter], or rig up [-nodes N]"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	switch args[0] {
	case "build":
		set := rig.Everything
		if len(args) > 1 {
			set = rig.Set(args[1])
		}
		if !slices.Contains([]rig.Set{rig.Planes, rig.Everything, rig.Oldest, rig.Baseline, rig.Ray, rig.Karpenter}, set) {
			return errors.New(usage)
		}
		dir, err := rig.Build(ctx, set)
		if err == nil {
			fmt.Fprintln(os.Stdout, dir)
		}
		return err
	case "up":
		return up(ctx, args[1:])
	}
	return errors.New(usage)
}

func up(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	nodes := flags.Int("nodes", 8, "kwok `nodes` of 8 GPUs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	c, err := rig.New(ctx, rig.Options{Nodes: []rig.Nodes{{Type: "NVIDIA-H200", Count: *nodes}}})
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "export KUBECONFIG=%s PATH=%s:$PATH\n", c.Kubeconfig, c.Bin)
	<-ctx.Done()
	return c.Close()
}
