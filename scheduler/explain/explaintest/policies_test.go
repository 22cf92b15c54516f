package explaintest

import _ "github.com/oxgang/oxgang/policy/rivals" // tests name policies
