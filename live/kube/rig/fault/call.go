package fault

import (
	"fmt"
	"net/http"
	"strings"
)

// A Call is one request of a program to the API server.
type Call struct {
	Verb        string // such as get or deletecollection, or the HTTP method
	Resource    string // with group, such as "plans.oxgang.dev"; "": none
	Subresource string // such as "status" or "binding"
	Namespace   string
	Name        string

	// Number counts from 1; 0: not numbered.
	Number int
	// Code is the HTTP status; 0: none yet.
	Code int
}

func (c *Call) String() string {
	what := c.Resource
	if c.Subresource != "" {
		what += "/" + c.Subresource
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Verb, what, c.Name))
}

func (c *Call) mutates() bool {
	switch c.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}

// Steps reports whether a call counts as a step of a program: it changes an object other than a lease, an event, a
// review or a token.
func Steps(c *Call) bool {
	switch {
	case !c.mutates(), strings.Contains(c.Resource, "reviews."):
		return false
	case c.Resource == "leases.coordination.k8s.io", c.Resource == "events", c.Resource == "events.events.k8s.io":
		return false
	case c.Subresource == "token":
		return false
	}
	return true
}

// A Match selects calls. An empty field matches everything, as does a nil Match.
type Match struct{ Verb, Resource, Subresource string }

func (m *Match) takes(c *Call) bool {
	return m == nil || (m.Verb == "" || m.Verb == c.Verb) && (m.Resource == "" || m.Resource == c.Resource) &&
		(m.Subresource == "" || m.Subresource == c.Subresource)
}

func parse(r *http.Request) *Call {
	c := &Call{Verb: strings.ToLower(r.Method)}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	group := ""
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		group, parts = "."+parts[1], parts[3:]
	default:
		return c
	}
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		c.Namespace, parts = parts[1], parts[2:]
	}
	c.Resource = parts[0] + group
	if len(parts) > 1 {
		c.Name = parts[1]
	}
	if len(parts) > 2 {
		c.Subresource = parts[2]
	}
	c.Verb = verb(r, c.Name != "")
	return c
}

func verb(r *http.Request, one bool) string {
	watch := r.URL.Query().Get("watch")
	switch {
	case r.Method == http.MethodGet && (watch == "true" || watch == "1"):
		return "watch"
	case r.Method == http.MethodGet && !one:
		return "list"
	case r.Method == http.MethodPost:
		return "create"
	case r.Method == http.MethodPut:
		return "update"
	case r.Method == http.MethodDelete && !one:
		return "deletecollection"
	}
	return strings.ToLower(r.Method)
}
