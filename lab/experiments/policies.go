package experiments

import _ "github.com/oxgang/oxgang/policy/rivals" // experiments compare all policies
