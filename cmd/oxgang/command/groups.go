package command

import (
	"slices"

	"github.com/spf13/cobra"
)

var groups = []struct {
	title string
	names []string
}{
	{"Simulate, and analyse recorded runs:", []string{"simulate", "whatif", "explain", "try", "report", "ledger", "plan", "lab"}},
	{"Training on this machine:", []string{"serve", "submit", "jobs", "logs", "cancel", "top", "ui", "backup", "prune"}},
	{"Clusters:", []string{"kubectl", "slurm"}},
	{"Traces and policies:", []string{"trace", "policies"}},
	{"Settings and help:", []string{"config", "help", "completion", "manual"}},
}

func group(cmd *cobra.Command) {
	for i := range groups {
		g := &groups[i]
		cmd.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range cmd.Commands() {
			if slices.Contains(g.names, c.Name()) {
				c.GroupID = g.title
			}
		}
	}
	cmd.SetHelpCommandGroupID(groups[len(groups)-1].title)
	cmd.SetCompletionCommandGroupID(groups[len(groups)-1].title)
}
