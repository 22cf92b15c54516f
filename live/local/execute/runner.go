package execute

import (
	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/supervisor"
)

// A Runner takes steps.
type Runner struct {
	Folders    *statedir.Folders
	Supervisor []string     // the command, without the directory, that supervises a generation
	Hook       func(string) // is called with the name of every step that a crash may come between
}

// Stop gives a generation notice. It returns an error if the notice could not be written.
func (r *Runner) Stop(g statedir.Generation, n supervisor.Notice) error {
	r.Hook("stop: before the notice")
	err := supervisor.Stop(r.Folders.Generation(g), n)
	r.Hook("stop: noticed")
	return err
}

// Start starts a generation. It returns an error if no supervisor could be started.
func (r *Runner) Start(g statedir.Generation, l *supervisor.Launch) error {
	r.Hook("start: before the supervisor")
	err := supervisor.Start(r.Supervisor, r.Folders.Generation(g), l)
	r.Hook("start: supervised")
	return err
}
