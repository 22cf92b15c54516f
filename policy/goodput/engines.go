package goodput

import "github.com/oxgang/oxgang/opt/engine"

// Engines returns an engine without items of each kind that this build has, in the order of
// engine.Names.
func Engines() []engine.Engine {
	var all []engine.Engine
	for _, name := range engine.Names() {
		if e, err := engine.New(name, []float64{1}, engine.Options{}); err == nil {
			all = append(all, e)
		}
	}
	return all
}
