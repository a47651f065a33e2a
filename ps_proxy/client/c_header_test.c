/* Compiled, never run: tictac.h must be C. */
#include "ps_proxy/client/tictac.h"

int main(void) {
  tictac_options options = {0};
  tictac_client* client = NULL;
  return tictac_connect(&options, &client) == TICTAC_OK;
}
